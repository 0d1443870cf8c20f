/** Many callers for minutes on end: how much memory each peer has, minute by minute. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type DevCluster, launchDevClusterIn, untilReady } from "../cli/DevCluster.ts";
import type { Figures } from "./Cluster.ts";
import { load, registrations } from "./Load.ts";
import { portIn } from "./LoadedPort.ts";
import { memoryMiB } from "./Processes.ts";
import { rounded } from "./Statistics.ts";

const CALLERS = 64;
const MINUTES = 10;
const MILLIS_PER_MINUTE = 60_000;
/** Registrations made at a time: their bodies are made beforehand. */
const STRETCH = 1_000;
/** What was cached by then is warm, and what grows from then on grows with the registry or is lost. */
const WARM_MINUTE = 3;

/** What the callers were told in one minute, and what each peer had at its end. */
interface Minute {
  readonly made: number;
  readonly refused: number;
  /** MiB, by peer: of the process, and what is left of its main thread's memory without garbage. */
  readonly resident: ReadonlyArray<number>;
  readonly live: ReadonlyArray<number>;
}

/** A peer writes it down within so long of the signal. */
const COLLECTED_MILLIS = 10_000;

/** MiB that are not garbage in the main thread of a process that was started with the port of that name. */
const liveMiB = async (folder: string, pid: number): Promise<number> => {
  const file = join(folder, `live-${pid}`);
  const lines = (): ReadonlyArray<string> => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  const before = lines().length;
  process.kill(pid, "SIGUSR2");
  const from = performance.now();
  while (lines().length === before) {
    if (performance.now() - from > COLLECTED_MILLIS) throw new Error(`process ${pid} wrote nothing into ${file}`);
    await setTimeout(50);
  }
  return Number(lines().at(-1)) / 2 ** 20;
};

const lastMinute = async ({ ready: { peers, token } }: DevCluster, folder: string): Promise<Minute> => {
  const [writer] = peers;
  if (writer === undefined) throw new Error("a cluster has peers");
  const began = performance.now();
  let [made, refused] = [0, 0];
  while (performance.now() - began < MILLIS_PER_MINUTE) {
    const calls = registrations(STRETCH, token);
    const [first] = calls;
    if (first === undefined) throw new Error("there is something to register");
    const { statuses } = await load(writer.url, CALLERS, calls.length, (index) => calls[index] ?? first);
    made += statuses.get(201) ?? 0;
    refused += statuses.get(503) ?? 0;
    const others = [...statuses.keys()].filter((status) => status !== 201 && status !== 503);
    if (others.length > 0) throw new Error(`expected 201 or 503, got ${others.join(", ")}`);
  }
  // Before anything is collected: a measurement must not make small what it measures.
  const resident = peers.map(({ pid }) => memoryMiB(pid).now);
  return { made, refused, resident, live: await Promise.all(peers.map(({ pid }) => liveMiB(folder, pid))) };
};

/** The most that any peer has of what it had, at the end of two minutes. */
const growth = (from: ReadonlyArray<number>, to: ReadonlyArray<number>): number =>
  Math.max(...to.map((mib, index) => mib / (from[index] ?? Number.NaN)));

/**
 * 64 callers register at a cluster of three for ten minutes, or two where it is quick.
 * @returns registrations; resident memory of the largest peer after each minute, and that without garbage; both at the
 * end over those of the third minute (the first, where it is quick), and what a registration has left for good
 */
export const measureSustained = async (isQuick: boolean): Promise<Readonly<Record<string, Figures>>> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const words = ["--peers", "3", "--port", "0"];
  const cluster = await untilReady(
    launchDevClusterIn("built", folder, portIn(folder, new URL("./LivePort.ts", import.meta.url)), words),
  );
  try {
    const minutes: Array<Minute> = [];
    while (minutes.length < (isQuick ? 2 : MINUTES)) minutes.push(await lastMinute(cluster, folder));
    const [warm, end] = [minutes[isQuick ? 0 : WARM_MINUTE - 1], minutes.at(-1)];
    if (warm === undefined || end === undefined) throw new Error("there were minutes");
    const most = minutes.flatMap(({ resident, live }, index) => [
      [`residentMiBAfterMinute${index + 1}`, rounded(Math.max(...resident), 0)],
      [`liveMiBAfterMinute${index + 1}`, rounded(Math.max(...live), 0)],
    ]);
    const since = minutes.slice(minutes.indexOf(warm) + 1).reduce((sum, { made }) => sum + made, 0);
    const left = Math.max(...end.live.map((mib, index) => mib - (warm.live[index] ?? Number.NaN)));
    return {
      sustained: {
        registrations: minutes.reduce((sum, { made }) => sum + made, 0),
        refused: minutes.reduce((sum, { refused }) => sum + refused, 0),
        ...Object.fromEntries(most),
        residentAtEndOverWarm: rounded(growth(warm.resident, end.resident)),
        liveAtEndOverWarm: rounded(growth(warm.live, end.live)),
        liveBytesLeftByOne: rounded((left * 2 ** 20) / since, 0),
      },
    };
  } finally {
    await cluster.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
