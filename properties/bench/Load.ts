/** Closed-loop callers over kept-open connections: each sends its next request when it has its answer. */
import { randomBytes } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { registration } from "../Registration.ts";

export interface Call {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Loaded {
  readonly perSecond: number;
  /** Milliseconds of each answered request. */
  readonly latencies: ReadonlyArray<number>;
  readonly statuses: ReadonlyMap<number, number>;
}

const send = (agent: Agent, url: URL, { method, path, headers, body }: Call): Promise<number> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = httpRequest(
      { agent, host: url.hostname, port: url.port, method, path, headers: { ...headers, ...length } },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });

/** Sends `count` calls through `callers` connections and waits for all answers. */
export const load = async (
  origin: string,
  callers: number,
  count: number,
  call: (index: number) => Call,
): Promise<Loaded> => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const url = new URL(origin);
  const latencies: Array<number> = [];
  const statuses = new Map<number, number>();
  let next = 0;
  const began = performance.now();
  const caller = async (): Promise<void> => {
    while (next < count) {
      const prepared = call(next++);
      const sentAt = performance.now();
      const status = await send(agent, url, prepared);
      latencies.push(performance.now() - sentAt);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - began) / 1000;
  agent.destroy();
  return { perSecond: count / seconds, latencies, statuses };
};

/** The same where all was answered with that status; throws where not: a rate might be one of refusals. */
export const succeeded = (loaded: Loaded, wanted: number): Loaded => {
  const bad = [...loaded.statuses].filter(([status]) => status !== wanted);
  if (bad.length > 0) throw new Error(`expected only ${wanted}, got ${JSON.stringify([...loaded.statuses])}`);
  return loaded;
};

/** Registrations of fresh Ed25519 keys, made beforehand so that making them is not measured. */
export const registrations = (count: number, token: string): ReadonlyArray<Call> =>
  Array.from({ length: count }, () => ({
    method: "POST",
    path: "/v1/custody/approvers",
    headers: { "content-type": "application/json", "x-jwt-token": token },
    body: JSON.stringify(registration(`bench-${randomBytes(8).toString("hex")}`)),
  }));
