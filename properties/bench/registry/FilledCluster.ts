/** A cluster of three whose disks were filled with approvers while it was stopped, and what its start then took. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { devFolder } from "../../../server/dev/DevFolder.ts";
import { runningPid } from "../../../server/dev/PidFile.ts";
import { isAlive, type Ready, startDevCluster } from "../../cli/DevCluster.ts";
import { Running } from "../../cli/Running.ts";
import { cpuSeconds } from "../Processes.ts";

const fillDisk = fileURLToPath(new URL("./FillDisk.ts", import.meta.url));
const PEERS = [1, 2, 3];
/** As {@link startDevCluster} names it. */
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

const filling = new Set<Running>();

/** Stops whatever fills or runs the clusters in a folder's folders, and waits until it has ended. */
export const stopAllIn = async (folder: string): Promise<void> => {
  await Promise.all([...filling].map((each) => each.stop("SIGKILL")));
  for (const name of readdirSync(folder)) {
    const pid = runningPid(devFolder(join(folder, name, CLUSTER)).pidFile);
    if (pid === undefined) continue;
    process.kill(pid, "SIGTERM");
    while (isAlive(pid)) await new Promise((wake) => void setTimeout(wake, 50));
  }
};

const fill = async (root: string, size: number): Promise<void> => {
  await Promise.all(
    PEERS.map(async (peer) => {
      const one = new Running([...process.execArgv, fillDisk, root, String(peer), String(size)]);
      filling.add(one);
      const code = await one.ended();
      filling.delete(one);
      if (code !== 0) throw new Error(one.text);
    }),
  );
};

/** Founds a cluster in a folder, stops it, fills its disks and starts it again; one that is there already is started. */
export const startFilled = async (folder: string, size: number): Promise<FilledCluster> => {
  const mark = join(folder, "filled");
  const root = join(folder, CLUSTER);
  const options = ["--peers", String(PEERS.length), "--port", "0"];
  mkdirSync(folder, { recursive: true });
  let fillSeconds: number | undefined;
  if (!existsSync(mark)) {
    const founding = await startDevCluster("built", folder, ...options);
    await founding.running.stop();
    const began = performance.now();
    await fill(root, size);
    fillSeconds = (performance.now() - began) / 1000;
    writeFileSync(mark, "");
  }
  const began = performance.now();
  const { ready } = await startDevCluster("built", folder, ...options);
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
