/** A development cluster of processes, started the way a user starts one, and what its ready-file says. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Schema } from "effect";

const Ready = Schema.parseJson(
  Schema.Struct({
    peers: Schema.Array(
      Schema.Struct({
        id: Schema.Number,
        url: Schema.String,
        peerUrl: Schema.String,
        pid: Schema.Number,
        config: Schema.String,
        restart: Schema.String,
      }),
    ),
    token: Schema.String,
    dataDir: Schema.String,
  }),
);

export type Ready = typeof Ready.Type;

/** The content of a ready-file. */
export const readReady = (path: string): Ready => Schema.decodeUnknownSync(Ready)(readFileSync(path, "utf8"));

export interface DevCluster {
  readonly process: ChildProcess;
  readonly ready: Ready;
  readonly readyFile: string;
  /** Everything printed so far. */
  readonly output: () => string;
  /** Resolves once the output matches. */
  readonly said: (pattern: RegExp) => Promise<void>;
  /** SIGTERM, unless it has ended; resolves with the exit code. */
  readonly stop: () => Promise<unknown>;
}

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** As `npm start` runs it, and as the package ships it. */
const commands = {
  source: [fromHere("../../server/bin/start.mjs")],
  built: [fromHere("../../dist/server/bin/custody.js"), "dev"],
};

const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CUSTODY_")));

/** Starts `custody dev` in a folder and waits until it says that it is ready. Rejects with what it printed. */
export const startDevCluster = async (
  form: keyof typeof commands,
  folder: string,
  ...more: ReadonlyArray<string>
): Promise<DevCluster> => {
  const readyFile = join(folder, "ready.json");
  const args = ["--data", join(folder, "cluster"), "--ready-file", readyFile, ...more];
  const child = spawn(process.execPath, [...commands[form], ...args], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  const said = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text)) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`custody dev ended: ${text}`);
      await Promise.race([once(child.stdout, "data"), once(child.stderr, "data"), once(child, "exit")]);
    }
  };
  await said(/Ctrl-C stops every peer/);
  return {
    process: child,
    ready: readReady(readyFile),
    readyFile,
    output: () => text,
    said,
    stop: async () => {
      if (child.exitCode !== null) return child.exitCode;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      return child.exitCode;
    },
  };
};

/** Whether a process lives, zombies aside. */
export const isAlive = (pid: number): boolean => {
  if (process.platform === "linux") {
    const stat = `/proc/${pid}/stat`;
    return existsSync(stat) && !/^\d+ \(.*\) Z/.test(readFileSync(stat, "latin1"));
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
