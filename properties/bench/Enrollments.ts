/**
 * Enrollments end to end on real peers: how long options take, and a finish, in which every member verifies the
 * ceremony. A cluster has room for 256 sessions within their ten minutes, so that no more than that is measured.
 */
import { randomBytes } from "node:crypto";
import { Effect, Redacted } from "effect";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import { OPTIONS_PATH } from "../../core/commands/enrollPasskey/Enrollment.ts";
import { CAPACITIES } from "../../core/base/Capacities.ts";
import { makeCredential } from "../webauthn/Authenticator.ts";
import { devFolder } from "../../server/dev/DevFolder.ts";
import { mintExisting } from "../../server/dev/Tokens.ts";
import type { MeasuredCluster } from "./MeasuredCluster.ts";
import { type Call, load, type Loaded } from "./Load.ts";

const WARM_UP = 32;
const ALONE = 64;
const TOGETHER = 128;
const CALLERS = 16;

export interface Enrolled {
  readonly optionsMillis: ReadonlyArray<number>;
  readonly alone: Loaded;
  readonly together: Loaded;
}

const registrarToken = (cluster: MeasuredCluster, subject: string): Promise<string> =>
  mintExisting(devFolder(cluster.dataDir), {
    subject,
    permissions: ["service.approvers.register"],
    ttlMillis: 3_600_000,
  }).pipe(Effect.map(Redacted.value), Effect.runPromise);

interface Offer {
  readonly invitation: string;
  readonly publicKey: { readonly challenge: string };
}

/** Sessions for finishes, each with the response of an authenticator of its own, made before anything is measured. */
const finishes = async (cluster: MeasuredCluster, url: string, count: number, optionsMillis: Array<number>) => {
  const origin = `http://localhost:${new URL(url).port}`;
  const calls: Array<Call> = [];
  let token = "";
  for (let index = 0; index < count; index++) {
    const seed = randomBytes(8).toString("hex");
    // A registrar may have so many unfinished sessions.
    if (index % CAPACITIES.sessionsPerRegistrar === 0) token = await registrarToken(cluster, `registrar-${seed}`);
    const headers = { "content-type": "application/json", "x-jwt-token": token };
    const askedAt = performance.now();
    const body = JSON.stringify({ id: `enrolled-${seed}` });
    const response = await fetch(`${url}${OPTIONS_PATH}`, { method: "POST", headers, body });
    const text = await response.text();
    optionsMillis.push(performance.now() - askedAt);
    if (response.status !== 200) throw new Error(`options were answered with ${text}`);
    const { invitation, publicKey }: Offer = JSON.parse(text);
    const challenge = Buffer.from(publicKey.challenge, "base64url");
    const credential = makeCredential({ challenge, origin, rpId: "localhost", seed });
    calls.push({ method: "POST", path: FINISH_PATH, headers, body: JSON.stringify({ invitation, credential }) });
  }
  return calls;
};

/** Measures the writer's callers, one and sixteen. */
export const measureEnrollments = async (cluster: MeasuredCluster): Promise<Enrolled> => {
  const [writer] = cluster.peers;
  if (writer === undefined) throw new Error("a cluster has peers");
  const optionsMillis: Array<number> = [];
  const run = async (callers: number, count: number): Promise<Loaded> => {
    const calls = await finishes(cluster, writer.url, count, optionsMillis);
    const [first] = calls;
    if (first === undefined) throw new Error("at least one call");
    return load(writer.url, callers, count, (index) => calls[index] ?? first);
  };
  await run(CALLERS, WARM_UP);
  optionsMillis.length = 0;
  return { optionsMillis, alone: await run(1, ALONE), together: await run(CALLERS, TOGETHER) };
};
