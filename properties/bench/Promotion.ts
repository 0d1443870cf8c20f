/**
 * What reads at the source wait for while an instance alone is promoted to three peers: how long they take, beside those
 * once all is quiet, and the longest stretches of every peer's event loop while pages are sent, verified and installed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, launchDevClusterIn, startDevCluster, untilReady } from "../cli/DevCluster.ts";
import type { Figures } from "./Cluster.ts";
import { type Call, load, registrations, succeeded } from "./Load.ts";
import { memoryMiB } from "./Processes.ts";
import { median, quantile, rounded } from "./Statistics.ts";
import { portIn } from "./LoadedPort.ts";
import { type Stretch, stretchesOf } from "./Stretches.ts";

const REGISTERING = 64;
/** Registrations made at a time: their bodies are made beforehand. */
const STRETCH = 1_000;
const PEERS = 3;
/** Calls between two looks at how far the promotion is. */
const CALLS = 25;
const QUIET_CALLS = 4_000;
const AGAIN_MILLIS = 20;
/** No pause of reads is to be longer. */
const PAUSE_MILLIS = 20;
/** More would take hours to register. */
const MOST_APPROVERS = 100_000;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

const headers = (token: string) => ({ "x-jwt-token": token });

/** Registers so many at an instance alone; one of them. */
const fill = async ({ ready: { peers, token } }: DevCluster, size: number): Promise<Call> => {
  const [source] = peers;
  if (source === undefined) throw new Error("there is one peer");
  for (let made = 0; made < size; made += STRETCH) {
    const calls = registrations(Math.min(STRETCH, size - made), token);
    const [first] = calls;
    if (first === undefined) throw new Error("there is something to register");
    succeeded(await load(source.url, REGISTERING, calls.length, (index) => calls[index] ?? first), 201);
  }
  const listed = await fetch(`${source.url}/v1/custody/approvers?limit=1`, { headers: headers(token) });
  const { items }: { readonly items: ReadonlyArray<{ readonly ref: string }> } = JSON.parse(await listed.text());
  const path = `/v1/custody/approvers/${encodeURIComponent(items[0]?.ref ?? "")}`;
  return { method: "GET", path, headers: headers(token) };
};

/** How far its promotion is; undefined where it does not say. */
const stageAt = async (url: string, token: string): Promise<string | undefined> => {
  const answer = await fetch(`${url}/v1/custody/system/promotion`, { headers: headers(token) }).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const { promotion }: { readonly promotion: { readonly stage: string } | null } = JSON.parse(await answer.text());
  return promotion?.stage;
};

interface Probed {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds of each call. */
  readonly latencies: ReadonlyArray<number>;
}

/** Calls its source while a promotion is under way; resolves once it is over. */
const probe = async (url: string, token: string, call: Call): Promise<Probed> => {
  const latencies: Array<number> = [];
  let from = Number.POSITIVE_INFINITY;
  for (;;) {
    const stage = await stageAt(url, token);
    if (stage !== undefined) from = Math.min(from, Date.now());
    if (stage === "DONE") return { from, to: Date.now(), latencies };
    if (stage === undefined) await pause(AGAIN_MILLIS);
    // The first call of each round opens its connection.
    else latencies.push(...succeeded(await load(url, 1, CALLS, () => call), 200).latencies.slice(1));
  }
};

const figuresOf = (name: string, latencies: ReadonlyArray<number>): Figures => ({
  [`${name}Calls`]: latencies.length,
  [`${name}MedianMillis`]: rounded(median(latencies)),
  [`${name}P99Millis`]: rounded(quantile(latencies, 0.99)),
  [`${name}MostMillis`]: rounded(quantile(latencies, 1)),
});

/** Of stretches that ended in that time, the longest, and how many took longer than a read may wait. */
const stretchFigures = (peer: number, all: ReadonlyArray<Stretch>, { from, to }: Probed): Figures => {
  const millis = all.filter(({ at }) => at >= from && at <= to).map((each) => each.millis);
  return {
    [`longestStretchOfPeer${peer}Millis`]: rounded(Math.max(0, ...millis), 1),
    [`stretchesOfPeer${peer}Over${PAUSE_MILLIS}Millis`]: millis.filter((each) => each > PAUSE_MILLIS).length,
  };
};

/** Promotes an instance with so many approvers. */
const promote = async (size: number): Promise<Figures> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-bench-"));
  const alone = await startDevCluster("built", folder, "--peers", "1", "--port", "0");
  let { running } = alone;
  try {
    const read = await fill(alone, size);
    const [source] = alone.ready.peers;
    await running.stop();
    const words = ["promote", "--peers", String(PEERS)];
    const launched = launchDevClusterIn(
      "built",
      folder,
      portIn(folder, new URL("./StretchPort.ts", import.meta.url)),
      words,
    );
    running = launched.running;
    if (source === undefined) throw new Error("there is one peer");
    const probed = await probe(source.url, alone.ready.token, read);
    const { ready } = await untilReady(launched);
    const quiet = succeeded(await load(source.url, 1, QUIET_CALLS, () => read), 200).latencies.slice(1);
    return {
      approvers: size,
      seconds: rounded((probed.to - probed.from) / 1000, 1),
      ...figuresOf("readAtSource", probed.latencies),
      ...figuresOf("readOnceQuiet", quiet),
      ...Object.assign({}, ...ready.peers.map(({ id, pid }) => stretchFigures(id, stretchesOf(folder, pid), probed))),
      ...Object.fromEntries(
        ready.peers.map(({ id, pid }) => [`mostResidentMiBOfPeer${id}`, rounded(memoryMiB(pid).most, 0)]),
      ),
    };
  } finally {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Promotes an instance for each of these numbers of approvers, as far as they can be registered. */
export const measurePromotions = async (sizes: ReadonlyArray<number>): Promise<Readonly<Record<string, Figures>>> => {
  const figures: Record<string, Figures> = {};
  for (const size of sizes.filter((each) => each <= MOST_APPROVERS))
    figures[`promotionOf${size}`] = await promote(size);
  return figures;
};
