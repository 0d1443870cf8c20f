/** A registry that grows by real registrations: what a version takes, and whether anything grows that should not. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devFolder } from "../../server/dev/DevFolder.ts";
import { type DevCluster, startDevCluster } from "../cli/DevCluster.ts";
import type { Figures } from "./Cluster.ts";
import { load, registrations, succeeded } from "./Load.ts";
import { cpuSeconds, memoryMiB } from "./Processes.ts";
import { median, quantile, rounded } from "./Statistics.ts";

const CALLERS = 64;
/** Registrations made at a time: their bodies are made beforehand. */
const STRETCH = 1_000;
/** By one caller, whose transactions are the smallest. */
const ALONE = 100;
const READS = 500;
/** A member that is not the writer. */
const MEMBER = 2;

/** Bytes that a process gave to its disks, by the kernel's account. */
const writtenBytes = (pid: number): number =>
  Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? Number.NaN);

const memberOf = ({ ready: { peers } }: DevCluster): DevCluster["ready"]["peers"][number] => {
  const member = peers.find(({ id }) => id === MEMBER);
  if (member === undefined) throw new Error("a cluster has peers");
  return member;
};

/** Registers so many; their rate, and what each made a member write and compute. */
const register = async (cluster: DevCluster, callers: number, count: number): Promise<Figures> => {
  const { ready } = cluster;
  const { pid } = memberOf(cluster);
  const [bytes, cpu] = [writtenBytes(pid), cpuSeconds(pid)];
  let seconds = 0;
  for (let made = 0; made < count; made += STRETCH) {
    const calls = registrations(Math.min(STRETCH, count - made), ready.token);
    const [first] = calls;
    const [writer] = ready.peers;
    if (first === undefined || writer === undefined) throw new Error("there is something to register");
    const loaded = await load(writer.url, callers, calls.length, (index) => calls[index] ?? first);
    seconds += calls.length / succeeded(loaded, 201).perSecond;
  }
  return {
    perSecond: rounded(count / seconds, 0),
    kibWrittenEach: rounded((writtenBytes(pid) - bytes) / count / 1024, 1),
    cpuMillisEach: rounded(((cpuSeconds(pid) - cpu) / count) * 1000),
  };
};

const named = (name: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([figure, value]) => [`${name}${figure}`, value]));

/** One approver, registered now, that is read again and again. */
const readAgain = async (cluster: DevCluster): Promise<Figures> => {
  const [call] = registrations(1, cluster.ready.token);
  const [writer] = cluster.ready.peers;
  if (call?.body === undefined || writer === undefined) throw new Error("a cluster has peers");
  const made = await fetch(writer.url + call.path, { method: "POST", headers: { ...call.headers }, body: call.body });
  const { ref }: { readonly ref: string } = JSON.parse(await made.text());
  const read = { method: "GET", path: `${call.path}/${encodeURIComponent(ref)}`, headers: call.headers } as const;
  const { latencies } = succeeded(await load(memberOf(cluster).url, 1, READS, () => read), 200);
  return { getMedianMillis: rounded(median(latencies)), getP99Millis: rounded(quantile(latencies, 0.99)) };
};

const databaseBytes = (folder: string): number => {
  const data = join(devFolder(join(folder, "cluster")).peer(MEMBER).folder, "data");
  return readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
};

const start = (folder: string): Promise<DevCluster> => startDevCluster("built", folder, "--peers", "3", "--port", "0");

/**
 * Registers until a cluster of three has each of these numbers of versions, and stops and starts it there.
 * @param sizes ascending
 */
export const measureGrowth = async (sizes: ReadonlyArray<number>): Promise<Readonly<Record<string, Figures>>> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const figures: Record<string, Figures> = {};
  let cluster = await start(folder);
  try {
    let versions = 0;
    for (const size of sizes) {
      const together = await register(cluster, CALLERS, size - versions - ALONE - 1);
      const alone = await register(cluster, 1, ALONE);
      const read = await readAgain(cluster);
      const memory = memoryMiB(memberOf(cluster).pid);
      versions = size;
      await cluster.running.stop();
      const bytes = databaseBytes(folder);
      const began = performance.now();
      cluster = await start(folder);
      figures[`growthTo${size}`] = {
        ...named("together", together),
        ...named("alone", alone),
        ...read,
        residentMiB: rounded(memory.now, 0),
        mostResidentMiB: rounded(memory.most, 0),
        databaseMiB: rounded(bytes / 1024 / 1024, 1),
        bytesEach: rounded(bytes / versions, 0),
        readySeconds: rounded((performance.now() - began) / 1000, 1),
        onePeerStartCpuSeconds: rounded(cpuSeconds(memberOf(cluster).pid), 1),
      };
    }
    return figures;
  } finally {
    await cluster.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
