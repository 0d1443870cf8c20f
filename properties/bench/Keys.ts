/** Keys and signatures of a real cluster of three, beside a registration's time and a bare yardstick. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Running } from "../cli/Running.ts";
import type { Figures } from "./Cluster.ts";
import { type Call, load, type Loaded, succeeded } from "./Load.ts";
import { type MeasuredCluster, startMeasuredCluster } from "./MeasuredCluster.ts";
import { register } from "./Registrations.ts";
import { measureShares } from "./Shares.ts";
import { withSlowPeer } from "./SlowFlush.ts";
import { median, quantile, rounded } from "./Statistics.ts";

const PEERS = 3;
const ROUNDS = 3;
const SIGNATURES = 60;
/** Node has compiled what matters by then, as in a process that has been up for a minute. */
const WARM = 1_200;
const WARM_CALLERS = 8;
const MANY = 64;
const OF_MANY = 256;
const CREATIONS = 20;
/** A peer that was killed, or has become slow, is known for it after the first of these. */
const AFTER_FAILURE = 8;
const SLOW_MILLIS = 200;
const PROBE_PAUSE_MILLIS = 20;
const KEYS = "/v1/custody/keys";

const script = fileURLToPath(new URL(`./BareSigner${extname(import.meta.url)}`, import.meta.url));

const startBareSigner = async (besides: string) => {
  const folder = mkdtempSync(join(besides, "bare-signer-"));
  const start = async (name: string, members: ReadonlyArray<string>) => {
    mkdirSync(join(folder, name));
    const running = new Running([...process.execArgv, script, join(folder, name), ...members]);
    return { running, url: await running.listening() };
  };
  const member = await start("member", []);
  const coordinator = await start("coordinator", [member.url]);
  return {
    url: coordinator.url,
    stop: async () => {
      await Promise.all([member, coordinator].map(({ running }) => running.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const post = (token: string, path: string, body: object): Call => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json", "x-jwt-token": token },
  body: JSON.stringify(body),
});

export const creation = (token: string, keyId: string): Call =>
  post(token, KEYS, { keyId, algorithm: "ED25519", authorities: [{ id: "arbitrary" }] });

/** Each of another message. */
export const signing = (token: string, keyId: string): Call =>
  post(token, `${KEYS}/${keyId}/sign`, {
    command: {
      type: "arbitrary",
      authorityId: "arbitrary",
      artifact: { scheme: "EdDSA", data64: randomBytes(32).toString("base64") },
    },
  });

const inAll = (rounds: ReadonlyArray<Loaded>): ReadonlyArray<number> => rounds.flatMap(({ latencies }) => latencies);

const urlOf = ({ peers }: MeasuredCluster, at: number): string => {
  const peer = peers.at(at);
  if (peer === undefined) throw new Error("a cluster has peers");
  return peer.url;
};

interface Probed {
  readonly loaded: Loaded;
  readonly healthMillis: ReadonlyArray<number>;
  readonly readMillis: ReadonlyArray<number>;
}

/** Asks for the health and for a key again and again while something else is done. */
const probedWhile = async (url: string, token: string, keyId: string, run: () => Promise<Loaded>): Promise<Probed> => {
  const healthMillis: Array<number> = [];
  const readMillis: Array<number> = [];
  const state = { isOver: false };
  const get = async (path: string): Promise<ReadonlyArray<number>> => {
    const call = { method: "GET", path, headers: { "x-jwt-token": token } } as const;
    return succeeded(await load(url, 1, 1, () => call), 200).latencies;
  };
  const probing = (async () => {
    while (!state.isOver) {
      healthMillis.push(...(await get("/v1/custody/system/health")));
      readMillis.push(...(await get(`${KEYS}/${keyId}`)));
      await new Promise((resolve) => void setTimeout(resolve, PROBE_PAUSE_MILLIS));
    }
  })();
  try {
    return { loaded: await run(), healthMillis, readMillis };
  } finally {
    state.isOver = true;
    await probing;
  }
};

const measured = async (cluster: MeasuredCluster): Promise<Figures> => {
  const { token } = cluster;
  const url = urlOf(cluster, 0);
  const keyId = "bench";
  succeeded(await load(url, 1, 1, () => creation(token, keyId)), 201);
  const sign = async (callers: number, count: number): Promise<Loaded> =>
    succeeded(await load(url, callers, count, () => signing(token, keyId)), 200);
  const bare = await startBareSigner(cluster.dataDir);
  const bareSign = async (): Promise<Loaded> =>
    succeeded(await load(bare.url, 1, SIGNATURES, () => signing(token, keyId)), 200);
  const signatures: Array<Loaded> = [];
  const bareSignatures: Array<Loaded> = [];
  const registrations: Array<Loaded> = [];
  await sign(WARM_CALLERS, WARM);
  await register(url, token, WARM_CALLERS, WARM);
  for (let round = 0; round < ROUNDS; round += 1) {
    signatures.push(await sign(1, SIGNATURES));
    bareSignatures.push(await bareSign());
    registrations.push(await register(url, token, 1, SIGNATURES));
  }
  await bare.stop();
  const creations = succeeded(await load(url, 1, CREATIONS, (index) => creation(token, `made-${index}`)), 201);
  // More than a busy machine signs in time are refused: what counts is how many were signed in a second.
  const probed = await probedWhile(url, token, keyId, () => load(url, MANY, OF_MANY, () => signing(token, keyId)));
  const { loaded: many, healthMillis, readMillis } = probed;
  const signed = many.statuses.get(200) ?? 0;
  const manyPerSecond = (many.perSecond * signed) / OF_MANY;
  process.kill(cluster.peers.at(-1)?.pid ?? 0, "SIGKILL");
  await load(url, 1, AFTER_FAILURE, () => signing(token, keyId));
  const without = await sign(1, SIGNATURES);
  const slowed = await withSlowPeer(cluster, SLOW_MILLIS, async () => {
    await load(url, 1, AFTER_FAILURE, () => signing(token, keyId));
    return await sign(1, SIGNATURES);
  });
  const [own, yardstick, registration] = [signatures, bareSignatures, registrations].map((each) => median(inAll(each)));
  if (own === undefined || yardstick === undefined || registration === undefined)
    throw new Error("three were measured");
  const perSecond = 1000 / own;
  return {
    signOneCallerMedianMillis: rounded(own),
    signOneCallerP95Millis: rounded(quantile(inAll(signatures), 0.95)),
    bareSignerOneCallerMedianMillis: rounded(yardstick),
    registrationOneCallerMedianMillis: rounded(registration),
    signOverBareSigner: rounded(own / yardstick, 1),
    signOverRegistration: rounded(own / registration),
    sign64CallersPerSecond: rounded(manyPerSecond, 0),
    sign64CallersRefused: OF_MANY - signed,
    sign64CallersRateOverOneCaller: rounded(manyPerSecond / perSecond, 1),
    healthP99WhileSigningMillis: rounded(quantile(healthMillis, 0.99)),
    readP99WhileSigningMillis: rounded(quantile(readMillis, 0.99)),
    createMedianMillis: rounded(median(creations.latencies)),
    createOverRegistration: rounded(median(creations.latencies) / registration, 1),
    signWithOneKilledMedianMillis: rounded(median(without.latencies)),
    signWithOneKilledOverHealthy: rounded(median(without.latencies) / own),
    signWithOneSlowedMedianMillis: rounded(median(slowed.latencies)),
    signWithOneSlowedOverHealthy: rounded(median(slowed.latencies) / own),
  };
};

/** Every figure about keys. Throws where a request is not answered as it must be. */
export const measureKeys = async (): Promise<Figures> => {
  const cluster = await startMeasuredCluster(PEERS, "built");
  try {
    return { ...(await measured(cluster)), ...measureShares() };
  } finally {
    await cluster.stop();
  }
};
