/** A ring of ever more keys at an instance alone: what a signature, a page of identities and a start take with each. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, startDevCluster } from "../cli/DevCluster.ts";
import type { Figures } from "./Cluster.ts";
import { creation, signing } from "./Keys.ts";
import { type Call, load, type Loaded, succeeded } from "./Load.ts";
import { cpuSeconds, untilIdle } from "./Processes.ts";
import { median, rounded } from "./Statistics.ts";

const CALLERS = 64;
const SIGNATURES = 300;
const PAGES = 100;
/** More would take hours to make. */
const MOST_KEYS = 100_000;

const nameOf = (at: number): string => `key-${String(at).padStart(6, "0")}`;

const start = (folder: string): Promise<DevCluster> => startDevCluster("built", folder, "--peers", "1", "--port", "0");

const sourceOf = ({ ready: { peers } }: DevCluster): DevCluster["ready"]["peers"][number] => {
  const [peer] = peers;
  if (peer === undefined) throw new Error("there is one peer");
  return peer;
};

/** Pages of identities from all over the ring, so that none is remembered. */
const pageOf = (token: string, at: number, keys: number): Call => {
  const lastSeen = nameOf(Math.floor((keys * at) / PAGES));
  const path = `/v1/custody/control/identities?limit=50&lastSeen=${lastSeen}`;
  return { method: "GET", path, headers: { "x-jwt-token": token } };
};

const middle = ({ latencies }: Loaded): number => rounded(median(latencies));

const measuredAt = async (cluster: DevCluster, keys: number): Promise<Figures> => {
  const { url } = sourceOf(cluster);
  const { token } = cluster.ready;
  const call = async (count: number, of: (at: number) => Call): Promise<Loaded> =>
    succeeded(await load(url, 1, count, of), 200);
  // Once unmeasured, as in a process that has been up for a while.
  await call(SIGNATURES, (at) => signing(token, nameOf(at)));
  const signed = await call(SIGNATURES, (at) => signing(token, nameOf(Math.floor((keys * at) / SIGNATURES))));
  await call(PAGES, (at) => pageOf(token, at, keys));
  return {
    signMedianMillis: middle(signed),
    pageMedianMillis: middle(await call(PAGES, (at) => pageOf(token, at, keys))),
  };
};

/**
 * Makes keys until there are each of these numbers of them, and starts the instance anew there.
 * @param sizes ascending; those above a hundred thousand are left out
 */
export const measureKeyring = async (sizes: ReadonlyArray<number>): Promise<Readonly<Record<string, Figures>>> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const figures: Record<string, Figures> = {};
  let cluster = await start(folder);
  try {
    let made = 0;
    for (const size of sizes.filter((each) => each <= MOST_KEYS)) {
      const { token } = cluster.ready;
      const before = made;
      const creations = await load(sourceOf(cluster).url, CALLERS, size - before, (index) =>
        creation(token, nameOf(before + index)),
      );
      made = size;
      const { perSecond } = succeeded(creations, 201);
      await cluster.running.stop();
      const began = performance.now();
      cluster = await start(folder);
      const readySeconds = rounded((performance.now() - began) / 1000, 1);
      const startCpuSeconds = rounded(cpuSeconds(sourceOf(cluster).pid), 1);
      // Behind its answers an instance verifies the rest of its rows after a start.
      const idleSeconds = await untilIdle(sourceOf(cluster).pid);
      const measured = await measuredAt(cluster, size);
      figures[`ringOf${size}`] = {
        madePerSecond: rounded(perSecond, 0),
        readySeconds,
        startCpuSeconds,
        idleSeconds,
        ...measured,
      };
    }
    return figures;
  } finally {
    await cluster.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
