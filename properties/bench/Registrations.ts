/** Registrations and the yardsticks beside them, in turn in short rounds: so the machine's moods meet all alike. */
import { bareCommits } from "./BareCommits.ts";
import { startBareTwoPhase } from "./BareTwoPhase.ts";
import type { Figures } from "./Cluster.ts";
import { load, type Loaded, registrations, succeeded } from "./Load.ts";
import type { MeasuredCluster } from "./MeasuredCluster.ts";
import { median, quantile, rounded } from "./Statistics.ts";
import { etcdPuts, hasEtcd } from "./yardsticks/Etcd.ts";
import { postgresBin, postgresInserts } from "./yardsticks/Postgres.ts";
import type { Yardstick } from "./yardsticks/Yardstick.ts";

const WARM_UP = 300;
const BARE_COMMITS = 900;
const ROUNDS = 3;
/** By how many callers, and how many records all rounds write together. */
const LOADS: ReadonlyArray<readonly [callers: number, count: number]> = [
  [1, 600],
  [16, 1_200],
  [64, 3_000],
];

/** Asks for fresh registrations at this address; throws where one is refused. */
export const register = async (url: string, token: string, callers: number, count: number): Promise<Loaded> => {
  const calls = registrations(count, token);
  const [first] = calls;
  if (first === undefined) throw new Error("at least one call");
  return succeeded(await load(url, callers, count, (index) => calls[index] ?? first), 201);
};

/** The same requests as ours; it ignores their token. */
const twoPhase = async ({ dataDir, token }: MeasuredCluster): Promise<Yardstick> => {
  const { url, stop } = await startBareTwoPhase(dataDir);
  return { name: "bareTwoPhase", write: (callers, count) => register(url, token, callers, count), stop };
};

/** Every yardstick that is installed here. */
const startYardsticks = async (cluster: MeasuredCluster): Promise<ReadonlyArray<Yardstick>> => {
  const bin = postgresBin();
  const starts = [
    () => twoPhase(cluster),
    ...(hasEtcd() ? [() => etcdPuts(cluster.dataDir)] : []),
    ...(bin === undefined ? [] : [() => postgresInserts(bin)]),
  ];
  const started: Array<Yardstick> = [];
  try {
    for (const start of starts) started.push(await start());
  } catch (fault) {
    for (const each of started) await each.stop();
    throw fault;
  }
  return started;
};

/** Several rounds as one. */
const inAll = (rounds: ReadonlyArray<Loaded>): Loaded => {
  const latencies = rounds.flatMap((each) => each.latencies);
  const seconds = rounds.reduce((sum, each) => sum + each.latencies.length / each.perSecond, 0);
  return { perSecond: latencies.length / seconds, latencies, statuses: new Map() };
};

/** By the number of callers. */
type Measured = ReadonlyMap<number, Loaded>;

const measuredBy = (measured: Measured, callers: number): Loaded => {
  const loaded = measured.get(callers);
  if (loaded === undefined) throw new Error(`${callers} callers were not measured`);
  return loaded;
};

const oneAndMany = (name: string, measured: Measured): Figures => {
  const [alone, some, many] = LOADS.map(([callers]) => measuredBy(measured, callers));
  if (alone === undefined || some === undefined || many === undefined) throw new Error("there are three loads");
  return {
    [`${name}OneCallerMedianMillis`]: rounded(median(alone.latencies)),
    [`${name}OneCallerP95Millis`]: rounded(quantile(alone.latencies, 0.95)),
    [`${name}OneCallerPerSecond`]: rounded(alone.perSecond, 0),
    [`${name}16CallersPerSecond`]: rounded(some.perSecond, 0),
    [`${name}64CallersPerSecond`]: rounded(many.perSecond, 0),
    [`${name}64CallersMedianMillis`]: rounded(median(many.latencies)),
    [`${name}64CallersRateOverOneCaller`]: rounded(many.perSecond / alone.perSecond, 1),
  };
};

const over = (ours: Measured, name: string, theirs: Measured): Figures => {
  const Name = name.charAt(0).toUpperCase() + name.slice(1);
  const medianOf = (measured: Measured): number => median(measuredBy(measured, 1).latencies);
  const rateOf = (measured: Measured): number => measuredBy(measured, 64).perSecond;
  return {
    ...oneAndMany(name, theirs),
    [`oneCallerMedianOver${Name}`]: rounded(medianOf(ours) / medianOf(theirs), 1),
    [`rateOf64CallersOver${Name}`]: rounded(rateOf(ours) / rateOf(theirs), 2),
  };
};

/** What writes records in turn: ours first, then the yardsticks. */
const inTurn = async (
  writers: ReadonlyArray<Yardstick>,
  between: () => Promise<void>,
): Promise<ReadonlyArray<Measured>> => {
  const rounds = writers.map(() => new Map(LOADS.map(([callers]) => [callers, new Array<Loaded>()] as const)));
  for (const { write } of writers) for (const [callers] of LOADS) await write(callers, WARM_UP);
  for (let round = 0; round < ROUNDS; round++) {
    await between();
    for (const [callers, count] of LOADS)
      for (const [index, { write }] of writers.entries())
        rounds[index]?.get(callers)?.push(await write(callers, count / ROUNDS));
  }
  return rounds.map((each) => new Map([...each].map(([callers, loads]) => [callers, inAll(loads)])));
};

/** Registrations through the writer, by one caller, 16 and 64, and every yardstick under the same load. */
export const measureRegistrations = async (cluster: MeasuredCluster): Promise<Figures> => {
  const [writer] = cluster.peers;
  if (writer === undefined) throw new Error("a cluster has peers");
  const yardsticks = await startYardsticks(cluster);
  try {
    const write = (callers: number, count: number) => register(writer.url, cluster.token, callers, count);
    const bare: Array<number> = [];
    const [ours, ...theirs] = await inTurn(
      [{ name: "registration", write, stop: async () => undefined }, ...yardsticks],
      async () => void bare.push(...(await bareCommits(cluster.dataDir, BARE_COMMITS / ROUNDS))),
    );
    if (ours === undefined) throw new Error("ours was measured");
    const bareMillis = median(bare);
    return {
      ...oneAndMany("registration", ours),
      bareCommitMedianMillis: rounded(bareMillis, 3),
      bareCommitsPerSecond: rounded(1000 / bareMillis, 0),
      oneCallerMedianOverBareCommit: rounded(median(measuredBy(ours, 1).latencies) / bareMillis, 1),
      ...Object.fromEntries(
        yardsticks.flatMap(({ name }, index) => Object.entries(over(ours, name, theirs[index] ?? new Map()))),
      ),
    };
  } finally {
    for (const each of yardsticks) await each.stop();
  }
};
