import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import type { Answer } from "../core/Action.ts";
import { installedProviders } from "../core/credential/SignatureProvider.ts";
import type { Digest, PublicKey } from "../core/Digest.ts";
import type { ActorCheck, Settings, TimerName } from "../core/Event.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import { REGISTER_PATH } from "../core/registry/Registration.ts";
import { cryptoOf, signerOf } from "./CryptoPrimitives.ts";
import { openEnvelope, sealEnvelope } from "./EnvelopeCodec.ts";
import { delivery, tokensIn } from "./Ingress.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { noblePrimitives, nobleSigning } from "./NobleCrypto.ts";
import { PeerDriver } from "./PeerDriver.ts";
import { SealedStore } from "./SealedStore.ts";

const crypto = cryptoOf(noblePrimitives);
const NOW = 1_800_000_000_000;

const keyOf = (seed: Uint8Array) =>
  signerOf(bytesToHex(nobleSigning.publicKeyOf(seed)) as PublicKey, (message) => nobleSigning.sign(seed, message));

const actor: ActorCheck = {
  _tag: "Verified",
  claims: {
    iss: undefined,
    sub: "operator",
    jti: undefined,
    audience: ["custody"],
    expiresAt: NOW + 3_600_000,
    notBefore: undefined,
    issuedAt: undefined,
    permissions: ["service.approvers.register"],
  },
};

/** Peers in one process with real crypto, real envelopes and sealed rows; messages wait until `settle`. */
class Cluster {
  readonly answers = new Map<string, Answer>();
  readonly #wire: Array<{ readonly to: PeerId; readonly bytes: Uint8Array }> = [];
  readonly #timers: Array<{ readonly peerId: PeerId; readonly timer: TimerName; readonly at: number }> = [];
  readonly peers = new Map<PeerId, PeerDriver>();
  readonly tables = new Map<PeerId, MemoryTables>();
  readonly #keys = new Map<PeerId, ReturnType<typeof keyOf>>();
  readonly total: number;
  now = NOW;
  #entropy = 0;

  constructor(total: number) {
    this.total = total;
    for (let peerId = 1; peerId <= total; peerId++) this.start(peerId);
  }

  readonly entropy = (): Digest =>
    bytesToHex(crypto.sha256(Uint8Array.of(this.#entropy++ >> 8, this.#entropy & 255))) as Digest;

  start(peerId: PeerId): void {
    const tables = this.tables.get(peerId) ?? new Map();
    this.tables.set(peerId, tables);
    const store = new SealedStore(new MemoryByteStore({ tables }), crypto);
    const identity = keyOf(new Uint8Array(32).fill(peerId));
    const integrity = { ...keyOf(new Uint8Array(32).fill(peerId + 100)), setKey: new Uint8Array(32).fill(peerId) };
    this.#keys.set(peerId, identity);
    store.useKey(integrity);
    const settings: Settings = {
      configDigest: "11".repeat(32) as Digest,
      audience: "custody",
      issuer: undefined,
      peers: Array.from({ length: this.total }, (_, index) => index + 1).filter((each) => each !== peerId),
      bootstrapSecret: utf8ToBytes("bootstrap"),
      development: true,
      answerMillis: 10_000,
    };
    const driver: PeerDriver = new PeerDriver({
      store,
      clock: () => this.now,
      entropy: this.entropy,
      crypto,
      providers: installedProviders,
      settings,
      send: (to, message) => {
        const bytes = sealEnvelope(driver.state, identity, this.entropy(), to, message);
        if (bytes !== undefined) this.#wire.push({ to, bytes });
      },
      reply: (requestId, answer) => this.answers.set(requestId, answer),
      setTimer: (timer, afterMillis) => this.#timers.push({ peerId, timer, at: this.now + afterMillis }),
      halt: (reason) => {
        throw reason;
      },
    });
    this.peers.set(peerId, driver);
    if (driver.state.peer === undefined)
      driver.dispatch({
        _tag: "Initialize",
        requestId: `init-${peerId}`,
        peerId,
        threshold: this.total === 1 ? 1 : 2,
        total: this.total,
        identityKey: identity.publicKey,
        integrityKey: integrity.publicKey,
        vault: new Uint8Array(8),
      });
    driver.unseal(identity);
  }

  settle(): void {
    for (let message = this.#wire.shift(); message !== undefined; message = this.#wire.shift()) {
      const driver = this.peers.get(message.to);
      if (driver === undefined) continue;
      const opened = Either.getOrThrow(openEnvelope(crypto, driver.state, message.bytes));
      driver.dispatch(
        delivery(
          opened.from,
          opened.message,
          tokensIn(opened.message).map(() => actor),
        ),
      );
    }
  }

  pass(millis: number): void {
    const until = this.now + millis;
    for (;;) {
      this.settle();
      const next = this.#timers.toSorted((left, right) => left.at - right.at)[0];
      if (next === undefined || next.at > until) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.now = Math.max(this.now, next.at);
      this.peers.get(next.peerId)?.dispatch({ _tag: "TimerFired", timer: next.timer });
    }
    this.now = until;
    this.settle();
  }

  register(through: PeerId, requestId: string, id: string, seed: number): void {
    const publicKey64 = Buffer.from(ed25519.getPublicKey(new Uint8Array(32).fill(seed))).toString("base64");
    const body = { id, credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 }, metadata: { team: "a" } };
    this.peers.get(through)?.dispatch({
      _tag: "Command",
      requestId,
      call: { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody: utf8ToBytes(JSON.stringify(body)) },
      token: "token",
      actor,
    });
  }
}

describe("the driver with real crypto, envelopes and sealed rows", () => {
  for (const total of [1, 2, 3, 5])
    it(`founds a cluster of ${total} and registers through every peer`, () => {
      const cluster = new Cluster(total);
      cluster.pass(2_000);
      const digests = new Set([...cluster.peers.values()].map((each) => each.state.membership?.digest));
      expect(digests.size).toBe(1);
      expect([...digests][0]).toBeDefined();
      for (let through = 1; through <= total; through++)
        cluster.register(through, `r${through}`, `alice-${through}`, through);
      cluster.pass(100);
      for (let through = 1; through <= total; through++)
        expect(cluster.answers.get(`r${through}`)).toMatchObject({ _tag: "Registered", created: true });
      cluster.pass(3_000);
      for (const { state } of cluster.peers.values()) {
        expect(state.registry.approvers).toBe(total);
        expect(state.locks.size).toBe(0);
        expect(state.outbox.size).toBe(0);
        expect(state.preparations.size).toBe(0);
      }
      const rows = [...cluster.tables.values()].map((tables) =>
        [...(tables.get("approvers")?.entries() ?? [])].map(([key, { row }]) => `${key} ${bytesToHex(row)}`).toSorted(),
      );
      for (const each of rows) expect(each).toEqual(rows[0]);
    });

  it("answers an identical retry 200 and the same key under another id 409", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.register(3, "first", "alice", 7);
    cluster.register(2, "joined", "alice", 7);
    cluster.pass(100);
    cluster.register(1, "again", "alice", 7);
    cluster.register(2, "other", "mallory", 7);
    cluster.register(1, "version", "alice", 8);
    cluster.pass(100);
    const created = ["first", "joined", "again", "version"].map((each) => cluster.answers.get(each));
    expect(created.map((each) => each?._tag === "Registered" && each.created)).toEqual([true, false, false, true]);
    expect(cluster.answers.get("other")).toMatchObject({
      _tag: "Rejected",
      rejection: { code: "KEY_ALREADY_REGISTERED" },
    });
  });

  it("comes back after every peer was stopped", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.register(2, "first", "alice", 7);
    cluster.pass(100);
    for (const [peerId, driver] of cluster.peers) {
      driver.stop();
      cluster.start(peerId);
    }
    cluster.pass(3_000);
    cluster.register(3, "second", "bob", 9);
    cluster.pass(100);
    expect(cluster.answers.get("second")).toMatchObject({ _tag: "Registered", created: true });
    for (const { state } of cluster.peers.values()) expect(state.registry.approvers).toBe(2);
  });

  it("names the member that does not answer", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.peers.get(2)?.stop();
    cluster.register(3, "blocked", "alice", 7);
    cluster.pass(5_000);
    expect(cluster.answers.get("blocked")).toMatchObject({
      _tag: "Rejected",
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", members: [{ peerId: 2, reason: "it does not answer" }] },
    });
    for (const { state } of cluster.peers.values()) expect(state.locks.size).toBe(0);
  });
});
