/**
 * One GET by ref, asked again and again over kept-open connections, beside a bare `node:http` server by turns. The
 * callers write and count bytes and do nothing else: with Node's own client they would be the slower side.
 */
import { connect } from "node:net";
import { startBareHttp } from "./BareHttp.ts";
import type { Call } from "./Load.ts";
import { cpuSeconds } from "./Processes.ts";
import { median, quantile, rounded } from "./Statistics.ts";

const READS = 20_000;
const ROUNDS = 5;
const CALLERS = 16;
/** A record as it travels is about this long. */
const RECORD_BYTES = 400;

interface Served {
  readonly url: string;
  readonly pid: number;
}

interface Round {
  readonly perSecond: number;
  /** Of the process that answers, user and system time. */
  readonly cpuMicros: number;
  readonly latencies: ReadonlyArray<number>;
}

/** The bytes of a request; its id makes all answers equally long. */
const requestOf = (host: string, { method, path, headers }: Call): string =>
  [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    "x-request-id: bench",
    ...Object.entries(headers).map((field) => field.join(": ")),
    "\r\n",
  ].join("\r\n");

const lengthOf = (answer: string): number =>
  answer.indexOf("\r\n\r\n") + 4 + Number(/content-length: (\d+)/i.exec(answer)?.[1]);

/** One connection's reads, until `next` says that there are enough. Rejects for any answer but 200. */
const read = (url: URL, request: string, next: () => boolean, took: (millis: number) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname).setNoDelay();
    let [wanted, got, sentAt] = [0, 0, 0];
    const ask = (): void => {
      if (!next()) return void socket.end(resolve);
      got = 0;
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on("connect", ask);
    socket.on("error", reject);
    socket.on("data", (bytes) => {
      if (got === 0 && bytes.toString("latin1", 0, 12) !== "HTTP/1.1 200") return reject(new Error(bytes.toString()));
      if (wanted === 0) wanted = lengthOf(bytes.toString("latin1"));
      got += bytes.length;
      if (got < wanted) return;
      took(performance.now() - sentAt);
      ask();
    });
  });

const round = async ({ url, pid }: Served, call: Call, reads: number): Promise<Round> => {
  const at = new URL(url);
  const request = requestOf(at.host, call);
  const latencies: Array<number> = [];
  let left = reads;
  const [began, cpu] = [performance.now(), cpuSeconds(pid)];
  const one = (): Promise<void> =>
    read(
      at,
      request,
      () => left-- > 0,
      (millis) => void latencies.push(millis),
    );
  await Promise.all(Array.from({ length: CALLERS }, one));
  const seconds = (performance.now() - began) / 1000;
  return { perSecond: reads / seconds, cpuMicros: ((cpuSeconds(pid) - cpu) * 1e6) / reads, latencies };
};

/** Rates, and the processor time of an answer; ratios are of medians of rounds by turns. */
export const measureReads = async (reader: Served, call: Call): Promise<{ readonly [name: string]: number }> => {
  const bare = await startBareHttp(RECORD_BYTES);
  try {
    const rounds: { readonly ours: Array<Round>; readonly bare: Array<Round> } = { ours: [], bare: [] };
    for (let each = 0; each <= ROUNDS; each++) {
      const ours = await round(reader, call, READS);
      const theirs = await round(bare, call, READS);
      // The first round warms up.
      if (each > 0) rounds.ours.push(ours);
      if (each > 0) rounds.bare.push(theirs);
    }
    const of = (side: "ours" | "bare", figure: "perSecond" | "cpuMicros"): number =>
      median(rounds[side].map((each) => each[figure]));
    return {
      getPerSecond: rounded(of("ours", "perSecond"), 0),
      bareHttpGetPerSecond: rounded(of("bare", "perSecond"), 0),
      getOverBareHttp: rounded(of("ours", "perSecond") / of("bare", "perSecond")),
      getP99Millis: rounded(
        quantile(
          rounds.ours.flatMap(({ latencies }) => latencies),
          0.99,
        ),
      ),
      getCpuMicros: rounded(of("ours", "cpuMicros"), 1),
      bareHttpGetCpuMicros: rounded(of("bare", "cpuMicros"), 1),
      bareHttpGetCpuOverOurs: rounded(of("bare", "cpuMicros") / of("ours", "cpuMicros")),
    };
  } finally {
    bare.stop();
  }
};
