/**
 * What a real cluster of three still achieves when far more callers come than it can serve: how many registrations a
 * second succeed with one to twenty times the callers that saturate it, all at a peer that is not the writer.
 */
import { Agent, request as httpRequest } from "node:http";
import { type MeasuredCluster, startMeasuredCluster } from "./MeasuredCluster.ts";
import { type Call, registrations } from "./Load.ts";
import { cpuSeconds } from "./Processes.ts";
import { median, quantile, rounded } from "./Statistics.ts";

const PEERS = 3;
/** 64 callers saturate a cluster on two cores; the last but one is ten times as many. */
const CALLERS = [64, 128, 256, 640, 1280] as const;
const TEN_TIMES = 640;
const MILLIS = 10_000;
const WARM_UP_CALLERS = 64;

interface Answered {
  readonly status: number;
  readonly millis: number;
  /** Seconds that the answer asks to wait. */
  readonly retryAfter: number | undefined;
  readonly body: string;
}

const send = (agent: Agent, url: URL, { method, path, headers, body = "" }: Call): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const length = { "content-length": String(Buffer.byteLength(body)) };
    const sent = httpRequest(
      { agent, host: url.hostname, port: url.port, method, path, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Array<Buffer> = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const told = response.headers["retry-after"];
          resolve({
            status: response.statusCode ?? 0,
            millis: performance.now() - began,
            retryAfter: told === undefined ? undefined : Number(told),
            body: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });

/** The answers to all callers of one level. */
interface Level {
  readonly succeeded: ReadonlyArray<number>;
  readonly refused: ReadonlyMap<string, number>;
  readonly seconds: number;
}

const reasonOf = ({ status, body }: Answered): string => {
  const problem: { readonly code?: string; readonly detail?: string } = JSON.parse(body);
  return `${status} ${problem.code ?? ""}: ${problem.detail ?? ""}`;
};

const measureLevel = async (origin: string, token: string, callers: number): Promise<Level> => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const url = new URL(origin);
  const succeeded: Array<number> = [];
  const refused = new Map<string, number>();
  const began = performance.now();
  const isOver = (): boolean => performance.now() - began >= MILLIS;
  const caller = async (): Promise<void> => {
    while (!isOver()) {
      const [call] = registrations(1, token);
      if (call === undefined) return;
      const answered = await send(agent, url, call);
      if (answered.status === 201) {
        if (!isOver()) succeeded.push(answered.millis);
        continue;
      }
      const reason = reasonOf(answered);
      refused.set(reason, (refused.get(reason) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  agent.destroy();
  return { succeeded, refused, seconds: MILLIS / 1000 };
};

export const measureOverload = async (): Promise<{ readonly [figure: string]: number }> => {
  const cluster: MeasuredCluster = await startMeasuredCluster(PEERS, "built");
  try {
    const entry = cluster.peers.at(-1);
    if (entry === undefined) throw new Error("a cluster has peers");
    await measureLevel(entry.url, cluster.token, WARM_UP_CALLERS);
    const figures: { [figure: string]: number } = {};
    const rates = new Map<number, number>();
    const spent = (): number => cluster.peers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    for (const callers of CALLERS) {
      const before = spent();
      const { succeeded, refused, seconds } = await measureLevel(entry.url, cluster.token, callers);
      const rate = succeeded.length / seconds;
      rates.set(callers, rate);
      figures[`${callers}CallersPerSecond`] = rounded(rate, 0);
      figures[`${callers}CallersPerCpuSecond`] = rounded(succeeded.length / (spent() - before), 0);
      figures[`${callers}CallersMedianMillis`] = rounded(median(succeeded), 0);
      figures[`${callers}CallersP99Millis`] = rounded(quantile(succeeded, 0.99), 0);
      figures[`${callers}CallersRefused`] = [...refused.values()].reduce((sum, each) => sum + each, 0);
      for (const [reason, count] of refused) process.stderr.write(`${callers} callers: ${count} times ${reason}\n`);
    }
    figures["tenTimesOverPeak"] = rounded((rates.get(TEN_TIMES) ?? 0) / Math.max(...rates.values()));
    return figures;
  } finally {
    await cluster.stop();
  }
};
