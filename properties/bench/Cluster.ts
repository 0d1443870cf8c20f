/** A real cluster of three, started from the build: registrations, enrollments, reads, and all of it on a slow disk. */
import { type MeasuredCluster, startMeasuredCluster } from "./MeasuredCluster.ts";
import { type Enrolled, measureEnrollments } from "./Enrollments.ts";
import { registrations, succeeded } from "./Load.ts";
import { measureReads } from "./Reads.ts";
import { measureRegistrations } from "./Registrations.ts";
import { slowFlush } from "./SlowFlush.ts";
import { median, quantile, rounded } from "./Statistics.ts";

const PEERS = 3;
const SLOW_FLUSH_MILLIS = 100;

export type Figures = { readonly [name: string]: number };

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

/** A finish is verified by every member; options are kept by every member. Beside them the puts of as many callers. */
const enrollmentFigures = ({ optionsMillis, alone, together }: Enrolled, beside: Figures): Figures => {
  const puts = beside["etcdPut16CallersPerSecond"];
  for (const loaded of [alone, together]) succeeded(loaded, 201);
  return {
    optionsOneCallerMedianMillis: rounded(median(optionsMillis)),
    finishOneCallerMedianMillis: rounded(median(alone.latencies)),
    finishOneCallerP95Millis: rounded(quantile(alone.latencies, 0.95)),
    finishOneCallerPerSecond: rounded(alone.perSecond, 0),
    finish16CallersMedianMillis: rounded(median(together.latencies)),
    finish16CallersPerSecond: rounded(together.perSecond, 0),
    ...(puts === undefined ? {} : { finishesOf16CallersOverEtcdPut: rounded(together.perSecond / puts, 2) }),
  };
};

/** Every figure of a cluster, by what was measured. Throws where a request is not answered as it must be. */
export const measureCluster = async (): Promise<Readonly<Record<string, Figures>>> => {
  const fromSource = await startMeasuredCluster(PEERS, "source");
  await fromSource.stop();
  const cluster = await startMeasuredCluster(PEERS, "built");
  try {
    const ref = await oneApprover(cluster);
    const measured = await measureRegistrations(cluster);
    return {
      start: {
        npmStartReadyMillis: rounded(fromSource.readyMillis, 0),
        installedReadyMillis: rounded(cluster.readyMillis, 0),
      },
      registrations: measured,
      enrollments: enrollmentFigures(await measureEnrollments(cluster), measured),
      reads: await readFigures(cluster, ref),
      slowFlush: await measureSlowFlush(cluster, ref),
    };
  } finally {
    await cluster.stop();
  }
};
