/** A development cluster of processes, started the way a user starts one, and the contents of its ready-file. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Schema } from "effect";
import { Running } from "./Running.ts";

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
  readonly running: Running;
  readonly ready: Ready;
  readonly readyFile: string;
  /** Resolves once the output matches. */
  readonly said: (pattern: RegExp) => Promise<unknown>;
}

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** As `npm start` runs it, as the package ships it, or as the build in another checkout does. */
export type Form = "source" | "built" | { readonly checkout: string };

/** The built program of a checkout. */
export const builtIn = (checkout: string): string => join(checkout, "dist/server/bin/custody.js");

const commandOf = (form: Form): ReadonlyArray<string> => {
  if (form === "source") return [fromHere("../../server/bin/start.mjs"), "dev"];
  return [builtIn(form === "built" ? fromHere("../..") : form.checkout), "dev"];
};

/** Starts `custody dev` in a folder; {@link untilReady} waits for its peers. */
export const launchDevCluster = (
  form: Form,
  folder: string,
  ...more: ReadonlyArray<string>
): Omit<DevCluster, "ready"> => launchDevClusterIn(form, folder, {}, more);

/** The same with more in its environment, which its peers have too. */
export const launchDevClusterIn = (
  form: Form,
  folder: string,
  env: Readonly<Record<string, string>>,
  more: ReadonlyArray<string>,
): Omit<DevCluster, "ready"> => {
  const readyFile = join(folder, "ready.json");
  // A command within comes before its options.
  const args = [...more, "--data", join(folder, "cluster"), "--ready-file", readyFile];
  const running = new Running([...commandOf(form), ...args], { env });
  const said = (pattern: RegExp): Promise<unknown> => running.until((text) => pattern.exec(text) ?? undefined);
  return { running, readyFile, said };
};

/** Waits until it says that it is ready. Rejects with what it printed. */
export const untilReady = async (launched: Omit<DevCluster, "ready">): Promise<DevCluster> => {
  await launched.said(/Ctrl-C stops every peer/);
  return { ...launched, ready: readReady(launched.readyFile) };
};

/** Starts `custody dev` in a folder and waits until it says that it is ready. Rejects with what it printed. */
export const startDevCluster = (...order: Parameters<typeof launchDevCluster>): Promise<DevCluster> =>
  untilReady(launchDevCluster(...order));

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
