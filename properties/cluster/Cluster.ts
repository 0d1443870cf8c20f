/** Peers in one process with real crypto, real envelopes and sealed rows, for tests that look at the protocol from outside. */
import { Secret } from "../../core/threshold/Secret.ts";
import { shareVault } from "../../runtime/threshold/ShareVault.ts";
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { commands } from "../../core/commands/Commands.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Either, Encoding } from "effect";
import type { Answer } from "../../core/Action.ts";
import { installedProviders } from "../../core/credential/SignatureProvider.ts";
import { decode } from "../../core/codec/CborReader.ts";
import type { Codec } from "../../core/codec/Codec.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { Rows, TableName } from "../../core/Tables.ts";
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { Digest, Entropy } from "../../core/base/Digest.ts";
import { CAPACITIES } from "../../core/base/Capacities.ts";
import { ceremonyWith } from "../../core/webauthn/Ceremony.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Event, Settings, TimerName } from "../../core/protocol/Event.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Versions } from "../../core/protocol/Versions.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { metadataPath } from "../../core/commands/replaceMetadata/Replacement.ts";
import { type Opening, openEnvelope, sealEnvelope } from "../../runtime/EnvelopeCodec.ts";
import { delivery, tokensIn } from "../../runtime/Ingress.ts";
import type { ByteStore, Change } from "../../runtime/ByteStore.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { MemoryByteStore, type MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { type KeysInUse, PeerDriver } from "../../runtime/PeerDriver.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { WallClock } from "../../runtime/WallClock.ts";
import { crypto, keyOf } from "./Crypto.ts";

export { crypto };
export const ceremony = ceremonyWith(nobleCeremonyCrypto);
export const NOW = 1_800_000_000_000;

export const actor: ActorCheck = {
  _tag: "Verified",
  claims: {
    iss: undefined,
    sub: "operator",
    jti: undefined,
    audience: ["custody"],
    expiresAt: NOW + 3_600_000,
    notBefore: undefined,
    issuedAt: undefined,
    permissions: ["service.approvers.register", "service.approvers.metadata"],
  },
};

/** The value of `tamper` of a cluster while nothing is done to messages. */
export const whole = (_from: PeerId, _to: PeerId, message: Message): Message => message;

/** How many rows of a table each peer has, by peer id. */
export const rowsOf = (cluster: Cluster, table: TableName): ReadonlyArray<number> =>
  [...cluster.tables.values()].map((each) => each.get(table)?.size ?? 0);

/** The code a request was rejected with, or its other answer; undefined while it has no answer. */
export const codeOf = (cluster: Cluster, requestId: string): string | undefined => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection.code : answer?._tag;
};

/** The keys of a peer in use: its identity, and a vault of its own. */
export const inUse = (signer: Signer): KeysInUse => ({
  signer,
  shareVault: shareVault(new Secret(hexToBytes(signer.publicKey))),
});

/** The settings of one peer; a test may change them before the peer starts. */
export const settingsOf = (peerId: PeerId, total: number): Settings => ({
  configDigest: "11".repeat(32) as Digest,
  audience: "custody",
  issuer: undefined,
  peers: Array.from({ length: total }, (_, index) => index + 1).filter((each) => each !== peerId),
  bootstrapSecret: utf8ToBytes("bootstrap"),
  development: true,
  answerMillis: 10_000,
  capacities: CAPACITIES,
  relyingParty: undefined,
  arbitrary: true,
});

/** Messages wait on the wire until `settle`; time passes only in `pass`. */
export class Cluster {
  readonly answers = new Map<string, Answer>();
  readonly #wire: Array<{ readonly to: PeerId; readonly bytes: Uint8Array }> = [];
  readonly #timers: Array<{ readonly peerId: PeerId; readonly timer: TimerName; readonly at: number }> = [];
  readonly peers = new Map<PeerId, PeerDriver>();
  readonly tables = new Map<PeerId, MemoryTables>();
  /** Every transaction, as it became durable. */
  readonly committed: Array<{ readonly peerId: PeerId; readonly changes: ReadonlyArray<Change> }> = [];
  readonly keys = new Map<PeerId, ReturnType<typeof keyOf>>();
  readonly stores = new Map<PeerId, SealedStore>();
  /** What each peer runs. */
  readonly #running = new Map<PeerId, Composition>();
  readonly total: number;
  now = NOW;
  /** Added to every wall clock, and to those of some peers besides; durations are not measured on them. */
  clockOffset = 0;
  readonly clockOffsets = new Map<PeerId, number>();
  /** How many responses all peers together have verified. */
  ceremonies = 0;
  readonly #ceremony: typeof ceremony = (registration) => {
    this.ceremonies += 1;
    return ceremony(registration);
  };
  #entropy = 0;

  /** The verdict on the caller's token; by default it is good. */
  judge: (peerId: PeerId) => ActorCheck = () => actor;
  /** What a peer runs, from its next start on. */
  runs: (peerId: PeerId) => Composition = () => commands;
  /** Whether a peer knows that it has the keys for that. */
  judgesTokens: (peerId: PeerId) => boolean = () => true;
  /** Whether all rows of a peer are verified. */
  isWhole: (peerId: PeerId) => boolean = () => true;
  /** Sees every message before it goes on the wire; what it returns goes instead. */
  tamper: (from: PeerId, to: PeerId, message: Message) => Message | undefined = whole;
  /** What a peer looks into of what comes to it; by default there is no bound. */
  opening: (to: PeerId) => Opening | undefined = () => undefined;
  /** Told of every event that the cluster hands to a peer. */
  onEvent: (peerId: PeerId, event: Event) => void = () => undefined;
  /** Carries out a peer's transaction, which ends in its flush; without that it is lost. */
  flush: (peerId: PeerId, changes: ReadonlyArray<Change>, flush: () => void) => void = (_peerId, _changes, flush) =>
    flush();
  onReply: (requestId: string, answer: Answer) => void = () => undefined;
  /** Whether a peer lets something else of its process happen before its next event. */
  giveWay: (goOn: () => void) => boolean = () => false;
  onHalt: (reason: Error) => void = (reason) => {
    throw reason;
  };
  readonly #override: (peerId: PeerId) => Partial<Settings>;
  /** What each peer is initialized with. */
  readonly #totalOf: (peerId: PeerId) => number;

  /** `count` peers, each initialized for a cluster of `total`; these differ only where a test is about that. */
  constructor(
    count: number,
    override: (peerId: PeerId) => Partial<Settings> = () => ({}),
    total = count,
    totalOf: (peerId: PeerId) => number = () => total,
  ) {
    this.total = total;
    this.#totalOf = totalOf;
    this.#override = override;
    for (let peerId = 1; peerId <= count; peerId++) this.start(peerId);
  }

  /** Told of all random bytes that are drawn. */
  onEntropy: (bytes: Entropy) => void = () => undefined;

  readonly entropy = (): Entropy => {
    const bytes = this.#drawn() as string as Entropy;
    this.onEntropy(bytes);
    return bytes;
  };

  #drawn(): Digest {
    return crypto.sha256(Uint8Array.of(this.#entropy++ >> 8, this.#entropy & 255));
  }

  start(peerId: PeerId): void {
    this.startAs(peerId, peerId);
  }

  /** Starts a peer with keys made from another seed than its id: what a wiped machine has. */
  startAs(peerId: PeerId, seed: number): void {
    const { driver, identity, keys } = this.#assemble(peerId, seed, settingsOf(peerId, this.total));
    this.peers.set(peerId, driver);
    this.keys.set(peerId, identity);
    const total = this.#totalOf(peerId);
    const threshold = total === 1 ? 1 : 2;
    if (driver.state.cluster.peer === undefined)
      this.dispatch(peerId, {
        _tag: "Initialize",
        requestId: `init-${peerId}`,
        peerId,
        threshold,
        total,
        ...keys,
      });
    this.unseal(peerId);
  }

  /** Hands an event to a peer, if it runs. */
  dispatch(peerId: PeerId, event: Event): void {
    const driver = this.peers.get(peerId);
    if (driver === undefined) return;
    this.onEvent(peerId, event);
    driver.dispatch(event);
  }

  /** Brings a peer's own key into use. */
  unseal(peerId: PeerId): void {
    const identity = this.keys.get(peerId);
    if (identity === undefined) throw new Error("no such peer");
    this.dispatch(peerId, { _tag: "Verifying" });
    this.onEvent(peerId, { _tag: "Unsealed" });
    this.peers.get(peerId)?.unseal(inUse(identity));
  }

  /** Initializes a peer of its own, outside the cluster, and returns the last answer. */
  initialize(wish: {
    readonly peerId: PeerId;
    readonly threshold: number;
    readonly total: number;
    readonly others: ReadonlyArray<PeerId>;
    readonly times?: number;
    readonly unsealBetween?: boolean;
  }): Answer | undefined {
    const aside = 900;
    this.tables.delete(aside);
    const { driver, identity, keys } = this.#assemble(aside, 9, {
      ...settingsOf(aside, this.total),
      peers: wish.others,
    });
    for (let time = 0; time < (wish.times ?? 1); time++) {
      const { peerId, threshold, total } = wish;
      driver.dispatch({ _tag: "Initialize", requestId: "aside", peerId, threshold, total, ...keys });
      if (wish.unsealBetween !== true) continue;
      driver.dispatch({ _tag: "Verifying" });
      driver.unseal(inUse(identity));
    }
    driver.stop();
    return this.answers.get("aside");
  }

  #assemble(peerId: PeerId, seed: number, base: Settings) {
    const tables = this.tables.get(peerId) ?? new Map();
    this.tables.set(peerId, tables);
    const bytes = new MemoryByteStore({ tables });
    const recorded: ByteStore = {
      get: bytes.get,
      scan: bytes.scan,
      keys: bytes.keys,
      commit: (changes, done) => {
        this.flush(peerId, changes, () => {
          this.committed.push({ peerId, changes });
          bytes.commit(changes, done);
        });
      },
    };
    const composition = this.runs(peerId);
    this.#running.set(peerId, composition);
    const store = new SealedStore(recorded, crypto, composition.tables);
    this.stores.set(peerId, store);
    const identity = keyOf(new Uint8Array(32).fill(seed));
    const integrity = { ...keyOf(new Uint8Array(32).fill(seed + 100)), setKey: new Uint8Array(32).fill(seed) };
    store.useKey(integrity);
    const clock = new WallClock({
      clock: () => this.now + this.clockOffset + (this.clockOffsets.get(peerId) ?? 0),
      elapsed: () => this.now,
    });
    const driver: PeerDriver = new PeerDriver({
      store,
      clock: () => clock.read(),
      entropy: this.entropy,
      crypto,
      commands: composition,
      providers: installedProviders,
      ceremony: this.#ceremony,
      keyCrypto: nobleKeyCrypto,
      settings: { ...base, ...this.#override(peerId) },
      judgesTokens: () => this.judgesTokens(peerId),
      isWhole: () => this.isWhole(peerId),
      send: (to, message) => {
        const sent = this.tamper(peerId, to, message);
        const bytes = sent && sealEnvelope(driver.state, identity, this.#drawn(), to, sent, composition);
        if (bytes !== undefined) this.#wire.push({ to, bytes });
      },
      giveWay: (goOn) => this.giveWay(goOn),
      reply: (requestId, answer) => {
        this.onReply(requestId, answer);
        this.answers.set(requestId, answer);
      },
      setTimer: (timer, afterMillis) => void this.#timers.push({ peerId, timer, at: this.now + afterMillis }),
      halt: (reason) => this.onHalt(reason),
    });
    const vault = new Uint8Array(8);
    return { driver, identity, keys: { identityKey: identity.publicKey, integrityKey: integrity.publicKey, vault } };
  }

  settle(): void {
    for (let message = this.#wire.shift(); message !== undefined; message = this.#wire.shift()) {
      const driver = this.peers.get(message.to);
      if (driver === undefined) continue;
      const envelope = openEnvelope(
        crypto,
        driver.state,
        message.bytes,
        this.#running.get(message.to),
        undefined,
        this.opening(message.to),
      );
      if (Either.isLeft(envelope)) continue;
      const { from, message: said, versions } = envelope.right;
      if (said === undefined) this.dispatch(message.to, { _tag: "Unread", from, versions });
      else this.deliver(message.to, from, said, versions);
    }
  }

  /** Hands a peer a message whose envelope held. */
  deliver(to: PeerId, from: PeerId, message: Message, versions?: Versions): void {
    const actors = tokensIn(message, this.#running.get(to)).map(() => this.judge(to));
    this.dispatch(to, delivery(from, message, actors, versions));
  }

  pass(millis: number): void {
    const until = this.now + millis;
    for (;;) {
      this.settle();
      const next = this.#timers.toSorted((left, right) => left.at - right.at)[0];
      if (next === undefined || next.at > until) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.now = Math.max(this.now, next.at);
      this.dispatch(next.peerId, { _tag: "TimerFired", timer: next.timer });
    }
    this.now = until;
    this.settle();
  }

  /** A row as it lies on a peer's disk. */
  row<T extends TableName>(peerId: PeerId, table: T, key: string): Rows[T] | undefined {
    const stored = this.tables.get(peerId)?.get(table)?.get(key);
    const { tables } = this.#running.get(peerId) ?? commands;
    return stored && Either.getOrThrow(decode(tables.codecOf(table) as Codec<Rows[T]>, stored.row, tables.newest));
  }

  register(through: PeerId, requestId: string, id: string, seed: number, metadata: object = { team: "a" }): void {
    this.registerKey(through, requestId, id, ed25519.getPublicKey(new Uint8Array(32).fill(seed)), metadata);
  }

  registerKey(
    through: PeerId,
    requestId: string,
    id: string,
    publicKey: Uint8Array,
    metadata: object = { team: "a" },
  ): void {
    const publicKey64 = Encoding.encodeBase64(publicKey);
    const body = { id, credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 }, metadata };
    const rawBody = utf8ToBytes(JSON.stringify(body));
    this.ask(through, requestId, { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody });
  }

  replace(through: PeerId, requestId: string, ref: string, ifMatch: string | undefined, metadata: unknown): void {
    const rawBody = utf8ToBytes(JSON.stringify({ metadata }));
    this.ask(through, requestId, { method: "PUT", path: metadataPath(ref), ifMatch, rawBody });
  }

  /** Sends a mutation as a caller does, with the one token there is. */
  ask(through: PeerId, requestId: string, call: Call): void {
    this.dispatch(through, { _tag: "Command", requestId, call, token: "token", actor: this.judge(through) });
  }
}

/** A cluster that has founded itself. */
export const founded = (total = 3): Cluster => {
  const cluster = new Cluster(total);
  cluster.pass(2_000);
  return cluster;
};
