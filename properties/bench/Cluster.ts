/** A real cluster of three, started from the build: registrations, enrollments, reads, and all of it on a slow disk. */
import { bareCommits } from "./BareCommits.ts";
import { startBareTwoPhase } from "./BareTwoPhase.ts";
import { type MeasuredCluster, startMeasuredCluster } from "./MeasuredCluster.ts";
import { type Enrolled, measureEnrollments } from "./Enrollments.ts";
import { load, type Loaded, registrations } from "./Load.ts";
import { measureReads } from "./Reads.ts";
import { slowFlush } from "./SlowFlush.ts";
import { median, quantile, rounded } from "./Statistics.ts";

const PEERS = 3;
const WARM_UP = 300;
const BARE_COMMITS = 900;
const ALONE = 600;
const TOGETHER = 3_000;
const CALLERS = 64;
/** Ours and both yardsticks are measured in turn so many times. */
const ROUNDS = 3;
const SLOW_FLUSH_MILLIS = 100;

export type Figures = { readonly [name: string]: number };

/** Without this check a rate might be one of refusals. */
const succeeded = (loaded: Loaded, wanted: number): Loaded => {
  const bad = [...loaded.statuses].filter(([status]) => status !== wanted);
  if (bad.length > 0) throw new Error(`expected only ${wanted}, got ${JSON.stringify([...loaded.statuses])}`);
  return loaded;
};

/** The same requests for every candidate; the bare one ignores their token. */
const register = async (url: string, token: string, callers: number, count: number): Promise<Loaded> => {
  const calls = registrations(count, token);
  const first = calls[0];
  if (first === undefined) throw new Error("at least one call");
  return succeeded(await load(url, callers, count, (index) => calls[index] ?? first), 201);
};

interface Measured {
  readonly alone: Loaded;
  readonly together: Loaded;
}

const oneAndMany = (name: string, { alone, together }: Measured): Figures => ({
  [`${name}OneCallerMedianMillis`]: rounded(median(alone.latencies)),
  [`${name}OneCallerP95Millis`]: rounded(quantile(alone.latencies, 0.95)),
  [`${name}OneCallerPerSecond`]: rounded(alone.perSecond, 0),
  [`${name}64CallersPerSecond`]: rounded(together.perSecond, 0),
  [`${name}64CallersMedianMillis`]: rounded(median(together.latencies)),
  [`${name}64CallersRateOverOneCaller`]: rounded(together.perSecond / alone.perSecond, 1),
});

/**
 * Ours and both yardsticks in turn in short rounds, so that changes in the machine's speed affect all of them alike.
 */
const measureRegistrations = async (cluster: MeasuredCluster): Promise<Figures> => {
  const [writer] = cluster.peers;
  if (writer === undefined) throw new Error("a cluster has peers");
  const twoPhase = await startBareTwoPhase(cluster.dataDir);
  try {
    const rivals = [writer.url, twoPhase.url];
    for (const url of rivals) {
      await register(url, cluster.token, CALLERS, WARM_UP);
      await register(url, cluster.token, 1, WARM_UP);
    }
    const bare: Array<number> = [];
    const alone: ReadonlyArray<Array<Loaded>> = rivals.map(() => []);
    const together: ReadonlyArray<Array<Loaded>> = rivals.map(() => []);
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(...(await bareCommits(cluster.dataDir, BARE_COMMITS / ROUNDS)));
      for (const [index, url] of rivals.entries())
        alone[index]?.push(await register(url, cluster.token, 1, ALONE / ROUNDS));
      for (const [index, url] of rivals.entries())
        together[index]?.push(await register(url, cluster.token, CALLERS, TOGETHER / ROUNDS));
    }
    const [ours, theirs] = rivals.map((_, index) => ({
      alone: inAll(alone[index] ?? []),
      together: inAll(together[index] ?? []),
    }));
    if (ours === undefined || theirs === undefined) throw new Error("two were measured");
    return { ...oneAndMany("registration", ours), ...yardsticks(ours, theirs, median(bare)) };
  } finally {
    await twoPhase.stop();
  }
};

/** Several rounds as one. */
const inAll = (rounds: ReadonlyArray<Loaded>): Loaded => {
  const latencies = rounds.flatMap((each) => each.latencies);
  const seconds = rounds.reduce((sum, each) => sum + each.latencies.length / each.perSecond, 0);
  return { perSecond: latencies.length / seconds, latencies, statuses: new Map() };
};

const yardsticks = (ours: Measured, theirs: Measured, bareMillis: number): Figures => {
  const millis = median(ours.alone.latencies);
  return {
    bareCommitMedianMillis: rounded(bareMillis, 3),
    bareCommitsPerSecond: rounded(1000 / bareMillis, 0),
    oneCallerMedianInBareCommits: rounded(millis / bareMillis, 1),
    ...oneAndMany("bareTwoPhase", theirs),
    oneCallerMedianInBareTwoPhase: rounded(millis / median(theirs.alone.latencies), 1),
    bareTwoPhase64CallersRateOverOurs: rounded(theirs.together.perSecond / ours.together.perSecond, 1),
  };
};

/** Registers one approver and returns its ref. */
const oneApprover = async (cluster: MeasuredCluster): Promise<string> => {
  const [call] = registrations(1, cluster.token);
  const [writer] = cluster.peers;
  if (call?.body === undefined || writer === undefined) throw new Error("a cluster has peers");
  const response = await fetch(writer.url + call.path, {
    method: "POST",
    headers: { ...call.headers },
    body: call.body,
  });
  const record: { readonly ref: string } = JSON.parse(await response.text());
  return record.ref;
};

const readFigures = (cluster: MeasuredCluster, ref: string): Promise<Figures> => {
  const reader = cluster.peers.at(-1);
  if (reader === undefined) throw new Error("a cluster has peers");
  const path = `/v1/custody/approvers/${encodeURIComponent(ref)}`;
  return measureReads(reader, { method: "GET", path, headers: { "x-jwt-token": cluster.token } });
};

const measureSlowFlush = async (cluster: MeasuredCluster, ref: string): Promise<Figures> => {
  const slow = await slowFlush(cluster, ref, SLOW_FLUSH_MILLIS);
  return {
    flushMillis: SLOW_FLUSH_MILLIS,
    registrationsMeanwhile: slow.registrations,
    healthMedianMillis: rounded(median(slow.healthMillis)),
    healthP99Millis: rounded(quantile(slow.healthMillis, 0.99)),
    getMedianMillis: rounded(median(slow.readMillis)),
    getP99Millis: rounded(quantile(slow.readMillis, 0.99)),
  };
};

/** A finish is verified by every member; options are kept by every member. */
const enrollmentFigures = ({ optionsMillis, alone, together }: Enrolled): Figures => {
  for (const loaded of [alone, together]) succeeded(loaded, 201);
  return {
    optionsOneCallerMedianMillis: rounded(median(optionsMillis)),
    finishOneCallerMedianMillis: rounded(median(alone.latencies)),
    finishOneCallerP95Millis: rounded(quantile(alone.latencies, 0.95)),
    finishOneCallerPerSecond: rounded(alone.perSecond, 0),
    finish16CallersMedianMillis: rounded(median(together.latencies)),
    finish16CallersPerSecond: rounded(together.perSecond, 0),
  };
};

/** Every figure of a cluster, by what was measured. Throws where a request is not answered as it must be. */
export const measureCluster = async (): Promise<Readonly<Record<string, Figures>>> => {
  const fromSource = await startMeasuredCluster(PEERS, "source");
  await fromSource.stop();
  const cluster = await startMeasuredCluster(PEERS, "built");
  try {
    const ref = await oneApprover(cluster);
    return {
      start: {
        npmStartReadyMillis: rounded(fromSource.readyMillis, 0),
        installedReadyMillis: rounded(cluster.readyMillis, 0),
      },
      registrations: await measureRegistrations(cluster),
      enrollments: enrollmentFigures(await measureEnrollments(cluster)),
      reads: await readFigures(cluster, ref),
      slowFlush: await measureSlowFlush(cluster, ref),
    };
  } finally {
    await cluster.stop();
  }
};
