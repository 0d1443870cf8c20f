/**
 * What answers cost in registries of different sizes, all of them up at once and asked in turn, so that their ratios
 * hold on a machine whose speed drifts.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Running } from "../../cli/Running.ts";
import type { Figures } from "../Cluster.ts";
import { type Call, load, type Loaded } from "../Load.ts";
import { memoryMiB } from "../Processes.ts";
import { median, quantile, rounded } from "../Statistics.ts";
import { hasEtcd } from "../yardsticks/Etcd.ts";
import { type Etcd, etcdQuestions, startEtcd, stopEtcds } from "./Etcd.ts";
import { type FilledCluster, readerOf, startFilled, stopStarted } from "./FilledCluster.ts";
import { asked, newRegistration, type QuestionName, questionNames, replacements } from "./Questions.ts";

export const registrySizes: ReadonlyArray<number> = [1_000, 100_000, 1_000_000];

export interface RegistryOrder {
  readonly sizes: ReadonlyArray<number>;
  /** Registries of an earlier run, or where they are kept; undefined for a folder that is removed. */
  readonly keptIn: string | undefined;
  /** A fiftieth of the calls, to see that all is answered. */
  readonly isQuick: boolean;
}

/** Calls of each kind in a round; the first one of each connection does not count. */
interface Calls {
  readonly rounds: number;
  /** Those that take a fraction of a millisecond. */
  readonly reads: number;
  readonly pages: number;
  readonly replacements: number;
  readonly warmUp: number;
  readonly stormRounds: number;
  readonly stormReads: number;
  readonly registrations: number;
}

const whole: Calls = {
  rounds: 8,
  reads: 250,
  pages: 100,
  replacements: 100,
  warmUp: 200,
  stormRounds: 2,
  stormReads: 300,
  registrations: 640,
};
const few: Calls = {
  rounds: 2,
  reads: 25,
  pages: 25,
  replacements: 10,
  warmUp: 20,
  stormRounds: 1,
  stormReads: 50,
  registrations: 64,
};
/** Callers that register during reads: so many that a cluster on two cores is half busy, and saturated. */
const STORMS = [2, 64];
const REGISTRATION_ROUNDS = 4;
const REGISTERING = 64;

const stormFile = fileURLToPath(new URL("./Storm.ts", import.meta.url));

const succeeded = ({ latencies, statuses }: Loaded, wanted: number): ReadonlyArray<number> => {
  const bad = [...statuses].filter(([status]) => status !== wanted);
  if (bad.length > 0) throw new Error(`expected only ${wanted}, got ${JSON.stringify([...statuses])}`);
  // The first call of a caller opens its connection.
  return latencies.slice(1);
};

/** One caller that makes these calls one after the other at the reading peer. */
const called = async (cluster: FilledCluster, calls: ReadonlyArray<Call>): Promise<ReadonlyArray<number>> => {
  const [first] = calls;
  if (first === undefined) throw new Error("at least one call");
  return succeeded(await load(readerOf(cluster).url, 1, calls.length, (index) => calls[index] ?? first), 200);
};

const ask = (cluster: FilledCluster, name: QuestionName, count: number): Promise<ReadonlyArray<number>> =>
  called(
    cluster,
    Array.from({ length: count }, () => asked(cluster, name)),
  );

const replace = async (cluster: FilledCluster, count: number): Promise<ReadonlyArray<number>> =>
  called(cluster, await replacements(cluster, readerOf(cluster).url, count));

/** Milliseconds of all calls, by what was called. */
class Samples {
  readonly #of = new Map<string, Array<number>>();

  add(name: string, millis: ReadonlyArray<number>): void {
    this.#of.set(name, [...(this.#of.get(name) ?? []), ...millis]);
  }

  median(name: string): number {
    return median(this.#of.get(name) ?? []);
  }

  p99(name: string): number {
    return quantile(this.#of.get(name) ?? [], 0.99);
  }
}

type BySize = ReadonlyMap<FilledCluster, Samples>;

const REPLACED = "replacement";
const measured = [...questionNames, REPLACED];

const rangesOf = async (etcd: Etcd, samples: Samples, count: number): Promise<void> => {
  for (const [name, question] of Object.entries(etcdQuestions)) {
    const calls = Array.from({ length: count }, () => question(etcd.size));
    const loaded = await load(etcd.url, 1, count, (index) => calls[index] ?? question(etcd.size));
    samples.add(name, succeeded(loaded, 200));
  }
};

const measureAnswers = async (
  clusters: ReadonlyArray<FilledCluster>,
  etcds: ReadonlyMap<Etcd, Samples>,
  { rounds, reads, pages, replacements: replaced, warmUp }: Calls,
): Promise<BySize> => {
  const bySize = new Map(clusters.map((cluster) => [cluster, new Samples()]));
  for (const cluster of clusters) {
    for (const name of questionNames) await ask(cluster, name, warmUp);
    await replace(cluster, warmUp);
  }
  for (const etcd of etcds.keys()) await rangesOf(etcd, new Samples(), warmUp);
  for (let round = 0; round < rounds; round++) {
    for (const name of questionNames)
      for (const [cluster, samples] of bySize)
        samples.add(name, await ask(cluster, name, name === "get" ? reads : pages));
    for (const [cluster, samples] of bySize) samples.add(REPLACED, await replace(cluster, replaced));
    for (const [etcd, samples] of etcds) await rangesOf(etcd, samples, reads);
  }
  return bySize;
};

const answerFigures = (samples: Samples, names: ReadonlyArray<string>): Figures =>
  Object.fromEntries(
    names.flatMap((name) => [
      [`${name}MedianMillis`, rounded(samples.median(name))],
      [`${name}P99Millis`, rounded(samples.p99(name))],
    ]),
  );

/** The 99th percentiles of the largest registry over those of the smallest. */
const growthFigures = (bySize: BySize): Figures => {
  const all = [...bySize.values()];
  const [smallest, largest] = [all[0], all.at(-1)];
  if (smallest === undefined || largest === undefined) throw new Error("at least one registry");
  return Object.fromEntries(
    measured.flatMap((name) => [
      [`${name}Median`, rounded(largest.median(name) / smallest.median(name))],
      [`${name}P99`, rounded(largest.p99(name) / smallest.p99(name))],
    ]),
  );
};

const storming = ["get", "firstPage", "pageOfFew"] as const;

/**
 * Reads at one peer while so many callers register through the writer one after the other, and without them, in turn;
 * meanwhile the same reads at another cluster, in which nothing happens: so much is the machine's share.
 */
const measureStorm = async (
  cluster: FilledCluster,
  elsewhere: FilledCluster,
  callers: number,
  { stormRounds, stormReads }: Calls,
): Promise<Figures> => {
  const [writer] = cluster.peers;
  if (writer === undefined) throw new Error("a cluster has peers");
  const quiet = new Samples();
  const stormy = new Samples();
  const other = new Samples();
  const read = async (samples: Samples, of = cluster): Promise<void> => {
    for (const name of storming) samples.add(name, await ask(of, name, stormReads));
  };
  let registered = 0;
  for (let round = 0; round < stormRounds; round++) {
    await read(quiet);
    const order = [writer.url, cluster.token, String(cluster.size), String(callers)];
    const storm = new Running([...process.execArgv, stormFile, ...order]);
    await storm.until((text) => /begun/.exec(text) ?? undefined);
    await read(stormy);
    await read(other, elsewhere);
    if ((await storm.stop()) !== 0) throw new Error(storm.text);
    registered += Number(/(\d+) a second/.exec(storm.stdout)?.[1]) / stormRounds;
  }
  return {
    registrationsPerSecond: rounded(registered, 0),
    ...Object.fromEntries(
      storming.flatMap((name) => [
        [`${name}QuietP99Millis`, rounded(quiet.p99(name))],
        [`${name}StormMedianMillis`, rounded(stormy.median(name))],
        [`${name}StormP99Millis`, rounded(stormy.p99(name))],
        [`${name}StormOverQuietP99`, rounded(stormy.p99(name) / quiet.p99(name))],
        [`${name}StormOverElsewhereP99`, rounded(stormy.p99(name) / other.p99(name))],
      ]),
    ),
  };
};

/** The same registrations with four pairs of metadata, that is four more rows of the index, and with none, in turn. */
const measureIndexRows = async (cluster: FilledCluster, { registrations }: Calls): Promise<Figures> => {
  const [writer] = cluster.peers;
  if (writer === undefined) throw new Error("a cluster has peers");
  const rates = { with: [] as Array<number>, without: [] as Array<number> };
  for (let round = 0; round <= 2 * REGISTRATION_ROUNDS; round++) {
    const isWith = round % 2 === 0;
    const calls = Array.from({ length: registrations }, () => newRegistration(cluster.token, cluster.size, isWith));
    const [first] = calls;
    if (first === undefined) throw new Error("at least one call");
    const loaded = await load(writer.url, REGISTERING, registrations, (index) => calls[index] ?? first);
    succeeded(loaded, 201);
    // The first round warms up.
    if (round > 0) rates[isWith ? "with" : "without"].push(loaded.perSecond);
  }
  return {
    fourPairsPerSecond: rounded(median(rates.with), 0),
    noPairsPerSecond: rounded(median(rates.without), 0),
    fourPairsOverNone: rounded(median(rates.with) / median(rates.without)),
  };
};

const standing = (cluster: FilledCluster): Figures => {
  const { now, most } = memoryMiB(readerOf(cluster).pid);
  return {
    ...(cluster.fillSeconds === undefined ? {} : { fillThreeDisksSeconds: rounded(cluster.fillSeconds, 0) }),
    databaseMiB: rounded(cluster.databaseMiB, 0),
    threePeersReadySeconds: rounded(cluster.readySeconds, 1),
    onePeerStartCpuSeconds: rounded(cluster.startCpuSeconds, 1),
    residentMiB: rounded(now, 0),
    mostResidentMiB: rounded(most, 0),
  };
};

const interruption = (): Promise<never> =>
  new Promise((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => reject(new Error(`ended by ${signal}; everything started is stopped`)));
  });

/** Runs with a folder whose processes are stopped, and which is removed, whichever way this ends. */
const withFolder = async <A>(keptIn: string | undefined, use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = keptIn === undefined ? mkdtempSync(join(tmpdir(), "custody-bench-")) : resolve(keptIn);
  mkdirSync(folder, { recursive: true });
  try {
    return await Promise.race([use(folder), interruption()]);
  } finally {
    await stopStarted();
    await stopEtcds();
    if (keptIn === undefined) rmSync(folder, { recursive: true, force: true });
  }
};

const figuresIn = async (
  folder: string,
  sizes: ReadonlyArray<number>,
  calls: Calls,
): Promise<Readonly<Record<string, Figures>>> => {
  const clusters: Array<FilledCluster> = [];
  const etcds = new Map<Etcd, Samples>();
  for (const size of sizes) clusters.push(await startFilled(join(folder, String(size)), size));
  if (hasEtcd()) for (const size of sizes) etcds.set(await startEtcd(join(folder, String(size)), size), new Samples());
  const [smallest] = clusters;
  if (smallest === undefined) throw new Error("at least one size");
  const answers = await measureAnswers(clusters, etcds, calls);
  const figures: Record<string, Figures> = {};
  for (const [cluster, samples] of answers)
    figures[`registryOf${cluster.size}`] = { ...standing(cluster), ...answerFigures(samples, measured) };
  figures["largestOverSmallest"] = growthFigures(answers);
  for (const [{ size }, samples] of etcds)
    figures[`etcdOf${size}`] = answerFigures(samples, Object.keys(etcdQuestions));
  const largest = clusters.at(-1) ?? smallest;
  for (const callers of STORMS)
    figures[`stormOf${callers}Callers`] = await measureStorm(largest, smallest, callers, calls);
  figures["registrations"] = await measureIndexRows(smallest, calls);
  return figures;
};

/** Every figure. Throws where something is not answered as it must be, and where it is interrupted. */
export const measureRegistry = ({
  sizes,
  keptIn,
  isQuick,
}: RegistryOrder): Promise<Readonly<Record<string, Figures>>> =>
  withFolder(keptIn, (folder) => figuresIn(folder, sizes, isQuick ? few : whole));
