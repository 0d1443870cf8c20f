/** Keys that every peer of a cluster finds among its rows, for tests of what is done with keys. */
import { Either, Encoding } from "effect";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { commands } from "../../core/commands/Commands.ts";
import { sharePlace } from "../../core/commands/keys/HeldShare.ts";
import type { Generation, Key } from "../../core/commands/keys/KeyRecord.ts";
import { keyPath } from "../../core/commands/keys/KeyId.ts";
import { generationKey, keyTables } from "../../core/commands/keys/Tables.ts";
import { composed } from "../../core/protocol/Composition.ts";
import type { Module } from "../../core/protocol/Module.ts";
import type { WriteOf, RowsOf } from "../../core/protocol/Tables.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Step } from "../../core/protocol/Step.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { Suite } from "../../core/threshold/Suite.ts";
import type { KeyAndShare, ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { actor, Cluster, crypto, inUse, NOW } from "./Cluster.ts";

type Planting = WriteOf<RowsOf<typeof keyTables>>;

/** What its bearer may do with every key. */
export const keyActor: typeof actor =
  actor._tag === "Verified"
    ? { ...actor, claims: { ...actor.claims, permissions: ["service.key.*.sign", "service.recover"] } }
    : actor;

export const [eddsa] = nobleKeyCrypto.suites as readonly [Suite & { readonly shared: ThresholdScheme }];

const made = new Map<string, ReadonlyArray<KeyAndShare>>();

/** A key of all indexes, made as its members would, in one place; once, as that takes long. */
const keygen = (threshold: number, total: number, seed: number): ReadonlyArray<KeyAndShare> => {
  const name = `${threshold} ${total} ${seed}`;
  const key = made.get(name) ?? madeOf(eddsa.shared, threshold, total, seed);
  made.set(name, key);
  return key;
};

const madeOf = (
  scheme: ThresholdScheme,
  threshold: number,
  total: number,
  seed: number,
): ReadonlyArray<KeyAndShare> => {
  const indexes = Array.from({ length: total }, (_, at) => at + 1);
  const parties = { threshold, indexes };
  const seedOf = (index: number): Secret => new Secret(new Uint8Array(32).fill(seed * 16 + index));
  const packages = indexes.map((me) => scheme.keygenPackage(seedOf(me), me, parties));
  const othersOf = (me: number) => packages.filter(({ index }) => index !== me);
  const told = indexes.map((me) => Either.getOrThrow(scheme.keygenShares(seedOf(me), me, parties, othersOf(me))));
  return indexes.map((me) => {
    const received = new Map(
      indexes.flatMap((from, at) => {
        const secret = told[at]?.get(me);
        return secret === undefined ? [] : [[from, secret] as const];
      }),
    );
    return Either.getOrThrow(scheme.keygenFinish(seedOf(me), me, parties, othersOf(me), received));
  });
};

/** A cluster whose peers write what a test gives them at the end of their next event. */
export class KeyedCluster extends Cluster {
  readonly #rows = new Map<PeerId, ReadonlyArray<Planting>>();

  constructor(total = 3, override: ConstructorParameters<typeof Cluster>[1] = () => ({})) {
    super(total, override);
    this.judge = () => keyActor;
    const planting: Module = {
      name: "planting",
      supplies: undefined,
      tables: {},
      contents: undefined,
      slice: undefined,
      exchanges: [],
      services: [],
      messages: {},
      timers: {},
      goOn: (step) => this.#plant(step),
    };
    this.runs = () => composed(commands.all, [...commands.modules, planting]);
    this.pass(2_000);
    for (let peerId = 1; peerId <= total; peerId++) this.start(peerId);
    this.pass(2_000);
  }

  #plant(step: Step): void {
    if (step.state.cluster.peer === undefined) return;
    for (const write of this.#rows.get(step.self) ?? []) step.rows(keyTables).write(write);
    this.#rows.delete(step.self);
  }

  /** Gives a peer rows of keys. */
  write(peerId: PeerId, rows: ReadonlyArray<Planting>): void {
    this.#rows.set(peerId, [...(this.#rows.get(peerId) ?? []), ...rows]);
    this.dispatch(peerId, { _tag: "CheckReadiness", requestId: `planting ${peerId}` });
    this.settle();
  }

  /** A key with shares of all peers, or of one that is alone, by rows alone. */
  plantKey(keyId: string, seed = 1, generationNo = 1): { readonly key: Key; readonly generation: Generation } {
    const membership = this.peers.get(1)?.state.cluster.membership;
    if (membership === undefined) throw new Error("the cluster is not founded");
    const { threshold, members } = membership.topology;
    const shares = this.total === 1 ? [] : keygen(threshold, this.total, seed);
    const alone = eddsa.solo.keyOf(new Secret(new Uint8Array(32).fill(seed)));
    const [first] = shares;
    const key: Key = {
      keyId,
      algorithm: eddsa.algorithm,
      scheme: eddsa.scheme,
      status: "ACTIVE",
      generation: generationNo,
      revision: generationNo,
      assetOwner: undefined,
      createdAt: NOW,
      updatedAt: NOW,
    };
    const generation: Generation = {
      keyId,
      generation: generationNo,
      state: "ACTIVE",
      madeBy: generationNo === 1 ? "CREATE" : "ROTATE",
      publicKey: first === undefined ? alone.publicKey : eddsa.shared.publicKey(first.key),
      group: {
        threshold: first?.key.threshold ?? 1,
        commitments: first?.key.commitments ?? [],
        verifyingShares: [...(first?.key.verifyingShares ?? [])].map(([index, element]) => ({ index, element })),
      },
      authorities: ["arbitrary"],
      record: crypto.sha256(utf8ToBytes(`record of ${keyId} ${generationNo}`)),
      transcript: crypto.sha256(utf8ToBytes(`transcript of ${keyId} ${generationNo}`)),
      createdAt: NOW,
      destroyedAt: undefined,
    };
    const name = generationKey(keyId, generationNo);
    for (const { peerId, shareIndex } of members) {
      const secret = shares.find(({ share }) => share.index === shareIndex)?.share.secret ?? alone.secret;
      const place = sharePlace(membership, peerId, generation);
      const identity = this.keys.get(peerId);
      if (place === undefined || identity === undefined) throw new Error(`peer ${peerId} holds no share`);
      const box = inUse(identity).shareVault.seal(place, secret, new Secret(new Uint8Array(32).fill(peerId)));
      const op = generationNo === 1 ? "insert" : "replace";
      this.write(peerId, [
        { op, table: "custodyKeys", key: keyId, row: key },
        { op: "insert", table: "generations", key: name, row: generation },
        { op: "insert", table: "shares", key: name, row: { box } },
      ]);
    }
    return { key, generation };
  }

  /** Asks a peer for a signature, as a caller does. */
  sign(through: PeerId, requestId: string, keyId: string, data: Uint8Array, more: object = {}): void {
    const artifact = { scheme: eddsa.scheme, data64: Encoding.encodeBase64(data) };
    const command = { type: "arbitrary", authorityId: "arbitrary", artifact };
    this.ask(through, requestId, {
      method: "POST",
      path: keyPath(keyId, "sign"),
      ifMatch: undefined,
      rawBody: utf8ToBytes(JSON.stringify({ command, ...more })),
    });
  }

  /** Asks a peer to get its shares of a key back. */
  repair(target: PeerId, requestId: string, keyId: string, helpers: ReadonlyArray<PeerId>): void {
    const rawBody = utf8ToBytes(JSON.stringify({ helpers }));
    this.ask(target, requestId, { method: "POST", path: keyPath(keyId, "repair"), ifMatch: undefined, rawBody });
  }

  /** The signature that a caller was told; undefined where it was told something else, or nothing yet. */
  signatureOf(requestId: string): string | undefined {
    const answer = this.answers.get(requestId);
    return answer?._tag === "Signed" ? answer.signature : undefined;
  }
}
