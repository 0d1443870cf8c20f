/** A cluster of real peers, one process each, started the way a user starts one. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** As `npm start` runs it, and as the package ships it. */
const commands = {
  source: [fromHere("../../server/bin/start.mjs")],
  built: [fromHere("../../dist/server/bin/custody.js"), "dev"],
};
const STARTED_MILLIS = 120_000;

export interface DevPeer {
  readonly id: number;
  readonly url: string;
  readonly pid: number;
  readonly config: string;
}

export interface DevCluster {
  readonly peers: ReadonlyArray<DevPeer>;
  readonly token: string;
  readonly dataDir: string;
  readonly readyMillis: number;
  readonly stop: () => Promise<void>;
}

const exited = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => void child.once("exit", () => resolve()));

/** Starts `custody dev` in a new folder and waits until every peer is ready. Rejects with what it printed. */
export const startDevCluster = async (peers: number, form: keyof typeof commands): Promise<DevCluster> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const readyFile = join(folder, "ready.json");
  const data = join(folder, "data");
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [...commands[form], "--peers", String(peers), "--port", "0", "--data", data, "--ready-file", readyFile],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const ready = await new Promise<string>((resolve, reject) => {
    const poll = setInterval(() => {
      const isOver = child.exitCode !== null || performance.now() - began > STARTED_MILLIS;
      try {
        const text = readFileSync(readyFile, "utf8");
        clearInterval(poll);
        resolve(text);
      } catch {
        if (!isOver) return;
        clearInterval(poll);
        child.kill("SIGTERM");
        reject(new Error(`the cluster did not start:\n${printed}`));
      }
    }, 20);
  });
  const readyMillis = performance.now() - began;
  const report: { readonly peers: ReadonlyArray<DevPeer>; readonly token: string; readonly dataDir: string } =
    JSON.parse(ready);
  return {
    ...report,
    readyMillis,
    stop: async () => {
      child.kill("SIGTERM");
      await exited(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
