/**
 * The yardstick for registrations: a bare unanimous two-phase commit of three processes over HTTP and SQLite, with the
 * same flushes one after the other and nothing else. No signature, no check, no recovery.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Running } from "../cli/Running.ts";

const MEMBERS = 2;
const script = fileURLToPath(new URL(`./BarePeer${extname(import.meta.url)}`, import.meta.url));

export interface BareTwoPhase {
  /** Takes a POST with a JSON body on any path and answers it 201. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

interface Started {
  readonly running: Running;
  readonly url: string;
}

const startPeer = async (folder: string, members: ReadonlyArray<string>): Promise<Started> => {
  mkdirSync(folder, { mode: 0o700 });
  const running = new Running([...process.execArgv, script, folder, ...members]);
  return { running, url: await running.listening() };
};

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
      await Promise.all([...members, coordinator].map(({ running }) => running.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
