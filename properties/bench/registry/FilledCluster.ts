/** A cluster of three whose disks were filled with approvers while it was stopped, and what its start then took. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { devFolder } from "../../../server/dev/DevFolder.ts";
import { type DevCluster, launchDevCluster, type Ready, untilReady } from "../../cli/DevCluster.ts";
import { Running } from "../../cli/Running.ts";
import { cpuSeconds } from "../Processes.ts";

const fillDisk = fileURLToPath(new URL("./FillDisk.ts", import.meta.url));
const PEERS = [1, 2, 3];
/** As {@link launchDevCluster} names it. */
const CLUSTER = "cluster";
const MIB = 1024 * 1024;

export interface FilledCluster extends Ready {
  readonly size: number;
  /** Seconds in which all three disks were filled; undefined for disks that were there. */
  readonly fillSeconds: number | undefined;
  /** From the start of the processes until all three have verified every row and accept changes. */
  readonly readySeconds: number;
  /** Processor time of the reading peer from its start until then. */
  readonly startCpuSeconds: number;
  readonly databaseMiB: number;
}

/** The peer that reads are sent to: not the writer. */
export const readerOf = ({ peers }: Ready): Ready["peers"][number] => {
  const reader = peers.at(-1);
  if (reader === undefined) throw new Error("a cluster has peers");
  return reader;
};

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

const started = new Set<Running>();

/** Stops all that was started here, and waits until it has ended; a cluster stops its peers. */
export const stopStarted = async (): Promise<void> => {
  await Promise.all([...started].map((each) => each.stop()));
};

/** Starts the cluster of a folder and waits until it accepts changes. */
const start = async (folder: string): Promise<DevCluster> => {
  const launched = launchDevCluster("built", folder, "--peers", String(PEERS.length), "--port", "0");
  started.add(launched.running);
  return untilReady(launched);
};

const fill = async (root: string, size: number): Promise<void> => {
  await Promise.all(
    PEERS.map(async (peer) => {
      const one = new Running([...process.execArgv, fillDisk, root, String(peer), String(size)]);
      started.add(one);
      const code = await one.ended();
      started.delete(one);
      if (code !== 0) throw new Error(one.text);
    }),
  );
};

/** Founds a cluster in a folder, stops it, fills its disks and starts it again; one that is there already is started. */
export const startFilled = async (folder: string, size: number): Promise<FilledCluster> => {
  const mark = join(folder, "filled");
  const root = join(folder, CLUSTER);
  mkdirSync(folder, { recursive: true });
  let fillSeconds: number | undefined;
  if (!existsSync(mark)) {
    const founding = await start(folder);
    await founding.running.stop();
    started.delete(founding.running);
    const began = performance.now();
    await fill(root, size);
    fillSeconds = (performance.now() - began) / 1000;
    writeFileSync(mark, "");
  }
  const began = performance.now();
  const { ready } = await start(folder);
  const reader = readerOf(ready);
  return {
    ...ready,
    size,
    fillSeconds,
    readySeconds: (performance.now() - began) / 1000,
    startCpuSeconds: cpuSeconds(reader.pid),
    databaseMiB: sizeOf(join(devFolder(root).peer(reader.id).folder, "data")) / MIB,
  };
};
