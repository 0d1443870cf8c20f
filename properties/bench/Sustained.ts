/** Many callers for minutes on end: how much memory each peer has, minute by minute. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, startDevCluster } from "../cli/DevCluster.ts";
import type { Figures } from "./Cluster.ts";
import { load, registrations } from "./Load.ts";
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
  /** MiB, by peer. */
  readonly resident: ReadonlyArray<number>;
}

const lastMinute = async ({ ready: { peers, token } }: DevCluster): Promise<Minute> => {
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
  return { made, refused, resident: peers.map(({ pid }) => memoryMiB(pid).now) };
};

/** The most that any peer has of what it had, at the end of two minutes. */
const growth = (from: Minute, to: Minute): number =>
  Math.max(...to.resident.map((resident, index) => resident / (from.resident[index] ?? Number.NaN)));

/**
 * 64 callers register at a cluster of three for ten minutes, or two where it is quick.
 * @returns registrations, resident memory of the largest peer after each minute, and that at the end over that of the
 * third minute (the first, where it is quick)
 */
export const measureSustained = async (isQuick: boolean): Promise<Readonly<Record<string, Figures>>> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const cluster = await startDevCluster("built", folder, "--peers", "3", "--port", "0");
  try {
    const minutes: Array<Minute> = [];
    while (minutes.length < (isQuick ? 2 : MINUTES)) minutes.push(await lastMinute(cluster));
    const [warm, end] = [minutes[isQuick ? 0 : WARM_MINUTE - 1], minutes.at(-1)];
    if (warm === undefined || end === undefined) throw new Error("there were minutes");
    const most = minutes.map(({ resident }, index) => [
      `residentMiBAfterMinute${index + 1}`,
      rounded(Math.max(...resident), 0),
    ]);
    return {
      sustained: {
        registrations: minutes.reduce((sum, { made }) => sum + made, 0),
        refused: minutes.reduce((sum, { refused }) => sum + refused, 0),
        ...Object.fromEntries(most),
        memoryAtEndOverWarm: rounded(growth(warm, end)),
      },
    };
  } finally {
    await cluster.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
