/**
 * Three real peers of which one after the other is killed with SIGKILL and started again, while callers make, rotate and
 * refresh keys and sign with them. Every signature is verified by OpenSSL under the public key that its caller was told;
 * at the end all peers have the same keys, each pair of them signs with every key, and nothing is left half made.
 */
import { spawn } from "node:child_process";
import { createPublicKey, type KeyObject, randomBytes, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readTables } from "./chaos/FinalStore.ts";
import { type Answered, call as httpCall } from "./chaos/HttpCall.ts";
import { type DevCluster, startDevCluster } from "./cli/DevCluster.ts";

const CALLERS = 4;
/** Of each caller: keys, each of which is rotated or refreshed so often. */
const KEYS = 1;
const RENEWALS = 4;
/** In this order, again and again. */
const VICTIMS = [2, 1, 3];
const BETWEEN_KILLS_MILLIS = 4_000;
const patience = 420_000;

let folder: string;
let cluster: DevCluster;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "custody-keys-kill-"));
  cluster = await startDevCluster("source", folder, "--peers", "3", "--port", "0");
}, patience);
afterAll(async () => {
  agent.destroy();
  await cluster.running.stop();
  rmSync(folder, { recursive: true, force: true });
}, patience);

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

const call = (peer: number, path: string, body?: object): Promise<Answered> => {
  const { peers, token } = cluster.ready;
  return httpCall(agent, peers[peer % peers.length]?.url ?? "", path, {
    token,
    body: body && Buffer.from(JSON.stringify(body)),
  });
};

interface Generation {
  readonly generation: number;
  readonly spki64: string;
}

const generationIn = (text: string): Generation => {
  const { generation }: { readonly generation: Generation } = JSON.parse(text);
  return generation;
};

const publicKeyOf = ({ spki64 }: Generation): KeyObject =>
  createPublicKey({ key: Buffer.from(spki64, "base64"), format: "der", type: "spki" });

let changes = 0;
let signatures = 0;

/** Sends the same request through one peer after the other until it is done. */
const insist = async (first: number, path: string, body: object): Promise<Generation> => {
  for (let attempt = first; ; attempt += 1) {
    const { status, text } = await call(attempt, path, body);
    if (status === 200 || status === 201) {
      changes += 1;
      return generationIn(text);
    }
    // Nobody else touches the key: every other refusal would be wrong.
    expect([0, 503], text).toContain(status);
    await pause(200);
  }
};

/** Whether it signed; then the signature holds. */
const sign = async (peer: number, keyId: string, known: Generation): Promise<boolean> => {
  const data = randomBytes(40);
  const artifact = { scheme: "EdDSA", data64: data.toString("base64") };
  const command = { type: "arbitrary", authorityId: "arbitrary", artifact };
  const { status, text } = await call(peer, `/v1/custody/keys/${keyId}/sign`, { command });
  if (status !== 200) {
    expect([0, 503], text).toContain(status);
    return false;
  }
  const signed: { readonly signature64: string; readonly generation: number } = JSON.parse(text);
  expect(signed.generation).toBe(known.generation);
  expect(verify(null, data, publicKeyOf(known), Buffer.from(signed.signature64, "base64"))).toBe(true);
  signatures += 1;
  return true;
};

const made = new Map<string, Generation>();

const caller = async (index: number): Promise<void> => {
  for (let number = 0; number < KEYS; number += 1) {
    const keyId = `k-${index}-${number}`;
    const creation = { keyId, algorithm: "ED25519", authorities: [{ id: "arbitrary" }] };
    let known = await insist(index, "/v1/custody/keys", creation);
    for (let renewal = 0; renewal < RENEWALS; renewal += 1) {
      for (let round = 0; round < 3; round += 1) await sign(index + round, keyId, known);
      const act = (index + renewal) % 2 === 0 ? "refresh" : "rotate";
      const base = { baseGeneration: known.generation };
      const next = await insist(index + renewal, `/v1/custody/keys/${keyId}/${act}`, base);
      expect(next.generation).toBe(known.generation + 1);
      expect(next.spki64 === known.spki64).toBe(act === "refresh");
      known = next;
    }
    made.set(keyId, known);
  }
};

const dataOf = (id: number): string => join(cluster.ready.dataDir, `peer-${id}`);

const kill = (id: number): void => {
  const { pid }: { readonly pid: number } = JSON.parse(readFileSync(join(dataOf(id), "peer.pid"), "utf8"));
  process.kill(pid, "SIGKILL");
};

const restart = (id: number): void => {
  const { restart: command = "" } = cluster.ready.peers.find((each) => each.id === id) ?? {};
  spawn("sh", ["-c", command], { stdio: "ignore" });
};

const ready = async (id: number): Promise<void> => {
  while ((await call(id - 1, "/v1/custody/system/ready")).status !== 200) await pause(50);
};

it(
  "keeps every key whole while peers are killed in turn",
  async () => {
    const state = { isOver: false };
    let kills = 0;
    const killing = (async () => {
      while (!state.isOver || kills < VICTIMS.length) {
        await pause(BETWEEN_KILLS_MILLIS);
        const victim = VICTIMS[kills % VICTIMS.length] ?? 1;
        kill(victim);
        kills += 1;
        restart(victim);
        await ready(victim);
      }
    })();
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
    state.isOver = true;
    await killing;
    expect(kills).toBeGreaterThanOrEqual(VICTIMS.length);
    expect(made.size).toBe(CALLERS * KEYS);
    expect(changes).toBe(CALLERS * KEYS * (1 + RENEWALS));
    expect(signatures).toBeGreaterThan(made.size);
  },
  patience,
);

it(
  "has the same keys at every peer, and each pair signs with all of them",
  async () => {
    const ids = cluster.ready.peers.map(({ id }) => id);
    for (const id of ids) await ready(id);
    for (const keyId of made.keys()) {
      const reads = await Promise.all(ids.map((id) => call(id - 1, `/v1/custody/keys/${keyId}`)));
      expect(new Set(reads.map(({ text }) => text)).size).toBe(1);
      expect(reads[0]?.text).toContain('"health":"OK"');
    }
    for (const away of ids) {
      kill(away);
      for (const [keyId, known] of made)
        for (const through of ids.filter((each) => each !== away))
          while (!(await sign(through - 1, keyId, known))) await pause(200);
      restart(away);
      await ready(away);
    }
  },
  patience,
);

it(
  "leaves nothing half made, and no share of a refreshed generation",
  async () => {
    await cluster.running.stop();
    for (const id of [1, 2, 3]) {
      const tables = await Effect.runPromise(readTables(join(dataOf(id), "data")));
      expect([...(tables.get("pending") ?? new Map()).keys()]).toEqual([]);
      const held = [...(tables.get("shares") ?? new Map()).keys()];
      // Of each key those before a rotation, and the newest.
      expect(held.length).toBe(made.size * (1 + RENEWALS / 2));
    }
  },
  patience,
);
