/**
 * The yardstick for registrations: a bare unanimous two-phase commit of three processes over HTTP and SQLite,
 * with the same flushes one behind the other and nothing else. No signature, no check, no recovery.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MEMBERS = 2;
const script = fileURLToPath(new URL(`./BarePeer${extname(import.meta.url)}`, import.meta.url));

export interface BareTwoPhase {
  /** Takes a POST with a JSON body on any path and answers it 201. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
}

const startPeer = (folder: string, members: ReadonlyArray<string>): Promise<Started> =>
  new Promise((resolve, reject) => {
    mkdirSync(folder, { mode: 0o700 });
    const child = spawn(process.execPath, [...process.execArgv, script, folder, ...members], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`a process of the bare two-phase commit ended with code ${code}`)));
    child.stdout.once("data", (port: Buffer) => resolve({ child, url: `http://127.0.0.1:${port.toString().trim()}` }));
  });

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });

/** Starts the three processes with their databases in a new folder besides the given one. */
export const startBareTwoPhase = async (besides: string): Promise<BareTwoPhase> => {
  const folder = mkdtempSync(join(besides, "bare-2pc-"));
  const numbers = Array.from({ length: MEMBERS }, (_, index) => index + 1);
  const members = await Promise.all(numbers.map((number) => startPeer(join(folder, `member-${number}`), [])));
  const coordinator = await startPeer(
    join(folder, "coordinator"),
    members.map(({ url }) => url),
  );
  return {
    url: coordinator.url,
    stop: async () => {
      await Promise.all([...members, coordinator].map(({ child }) => ended(child)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
