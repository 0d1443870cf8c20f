/** One peer on this machine: the driver with store, keys, timers, callers and envelopes. It knows nothing of HTTP. */
import { randomBytes } from "node:crypto";
import type { Either } from "effect";
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Event, Settings } from "../../core/protocol/Event.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { NumberedAct, OperatorAct } from "../../core/protocol/OperatorAct.ts";
import { beingVerified, sealed } from "../../core/protocol/Unavailable.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { MemberFault, Rejection } from "../../core/base/Rejection.ts";
import type { ByteStore } from "../../runtime/ByteStore.ts";
import type { Opened, Unread } from "../../runtime/EnvelopeCodec.ts";
import { delivery } from "../../runtime/Ingress.ts";
import { OperatorLog } from "../../runtime/OperatorLog.ts";
import { PeerDriver } from "../../runtime/PeerDriver.ts";
import { type ReadRecord, readApprover, withObservations } from "../../runtime/Reads.ts";
import type { Verified } from "../../runtime/RowSum.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { Timers } from "../../runtime/Timers.ts";
import type { PeerKeys } from "../crypto/CryptoBackend.ts";
import { bringLaterKeys } from "./LaterKeys.ts";
import type { Operation } from "./Operation.ts";
import { entropy } from "./Entropy.ts";
import { Envelopes } from "./Envelopes.ts";
import { Initializing } from "./FreshStart.ts";
import { later, pauses } from "./MachineTime.ts";
import { observedStore } from "./ObservedStore.ts";
import type { Initialization, PeerPorts, PromotionWish, Reading, Running } from "./PeerPorts.ts";
import { PromisedCallers } from "./PromisedCallers.ts";
import type { Unsealing } from "./Unsealing.ts";
import { Verification } from "./Verification.ts";

/** How often a seal checks whether all before it is done. */
const SEALED_POLL_MILLIS = 5;

export class Peer {
  readonly #ports: PeerPorts;
  readonly #callers: PromisedCallers;
  /** What is said to other peers, and heard of them. */
  readonly envelopes: Envelopes;
  readonly #timers: Timers;
  readonly #publication = new Set<() => void>();
  readonly #operators: OperatorLog;
  readonly #initializing: Initializing;
  #running: Running;
  #keys: PeerKeys | undefined;
  #verification: Verification | undefined;
  #unsealing: Promise<Unsealing> | undefined;
  #rest: Verification | undefined;
  #isFounded: boolean;

  /** Reads the state back. Throws when the store cannot be read or its rows contradict each other. */
  constructor(ports: PeerPorts) {
    this.#ports = ports;
    this.#timers = new Timers(later, (timer) => this.#dispatch({ _tag: "TimerFired", timer }));
    this.envelopes = new Envelopes({ ...ports, state: () => this.state, signer: this.signer });
    this.#callers = new PromisedCallers({
      ...ports,
      dispatch: (event, consumed) => this.#dispatch(event, consumed),
      self: () => this.state.cluster.peer?.peerId ?? 0,
    });
    this.#running = this.#start(ports.bytes);
    this.#isFounded = this.state.cluster.membership !== undefined;
    this.#operators = new OperatorLog({
      journal: ports.journal,
      state: () => this.state,
      audit: (acts, done) => void this.#audit(acts).then(done),
    });
    this.#initializing = new Initializing({
      bytes: ports.bytes,
      start: (bytes, keys) => this.#start(bytes, keys),
      ask: (start, detail) => this.#callers.ask(start, detail),
      landed: (next) => {
        this.#running.driver.stop();
        this.#running = next;
        ports.initialized();
      },
    });
  }

  /** The published state: everything in it is on the disk. */
  get state(): PeerState {
    return this.#running.driver.state;
  }

  get backlog(): number {
    return this.#running.driver.backlog;
  }

  /** Mutations that wait for their answer. */
  get waiting(): number {
    return this.#callers.waiting;
  }

  /** Whether every stored row was verified since the unseal. */
  get isWhole(): boolean {
    return this.#running.store.isWhole;
  }

  /** How far the verification after an unseal is; undefined where none is under way. */
  get verifying(): Verified | undefined {
    return this.#verification?.progress;
  }

  get settings(): Settings {
    return this.#ports.settings;
  }

  /** Signs with the identity key, which this peer has while it is unsealed; what may be signed the caller knows. */
  readonly signer = (): PeerKeys["identity"] | undefined => this.#keys?.identity;

  /** The stored vault. Throws {@link IntegrityFailure} when its row does not hold. */
  vault(): Uint8Array | undefined {
    return this.#running.store.get("vault", "self")?.blob;
  }

  /**
   * Takes in a message whose envelope held, with the verdicts on its bearer tokens. `consumed` is called once nothing
   * of it waits any more.
   */
  deliver({ from, message, versions }: Opened, actors: ReadonlyArray<ActorCheck>, consumed: () => void): void {
    this.#dispatch(delivery(from, message, actors, versions), consumed);
  }

  /** Takes note of a message whose envelope held and that cannot be read here. */
  unread({ from, versions }: Unread, consumed: () => void): void {
    this.#dispatch({ _tag: "Unread", from, versions }, consumed);
  }

  /** Asks for a registry mutation; always answered within the configured time. */
  mutate(...asked: Parameters<PromisedCallers["mutate"]>): Promise<Answer> {
    return this.#callers.mutate(...asked);
  }

  /** Why a mutation would not be accepted now; empty when it would. */
  readiness(): Promise<ReadonlyArray<MemberFault>> {
    return this.#callers.readiness();
  }

  /** See {@link readApprover}. */
  read(actor: ActorCheck, ref: string): Either.Either<ReadRecord, Rejection> {
    return readApprover(this.reading, actor, ref);
  }

  /** See {@link withObservations}. */
  withObservations(approver: ReadRecord["approver"]): Either.Either<ReadRecord, Rejection> {
    return withObservations(this.reading, approver);
  }

  /** What reads beside the mailbox look at, at this moment. */
  get reading(): Reading {
    const { backend, settings, clock } = this.#ports;
    const integrityLost = (where: string): void => {
      if (this.state.fitness.integrityFault === undefined) this.#dispatch({ _tag: "IntegrityLost", where });
    };
    const { recalling, remaining } = this.#running.store;
    return {
      view: this.state.fitness.integrityFault === undefined ? recalling : remaining,
      state: this.state,
      crypto: backend.crypto,
      settings,
      clock: clock.read(),
      integrityLost,
      shareVault: this.#keys?.shareVault,
    };
  }

  /** Whether an initialization is being written whose caller was told that it took too long. */
  get isInitializing(): boolean {
    return this.#initializing.isUnderWay;
  }

  /**
   * Initializes this peer with fresh keys, or again until it is unsealed once: all rows of an earlier attempt are
   * replaced in the same transaction. The keys are out of use afterwards.
   */
  async initialize(keys: PeerKeys, vault: Uint8Array, numbers: Initialization): Promise<Answer> {
    // Before the first unseal there is next to nothing to verify; after it this is refused.
    await this.#unsealing;
    // A damaged peer is not a new one, whatever its rows still say.
    const { cluster, fitness } = this.state;
    const isFixed = cluster.peer?.unsealedOnce === true || fitness.integrityFault !== undefined;
    return this.#initializing.begin(keys, vault, numbers, isFixed ? this.#running : undefined);
  }

  /**
   * Takes the keys into memory, verifies what this peer rests on, and only then brings them into use.
   *
   * @param act the operator's act, which goes into the audit with the unseal
   * @returns `begun` resolves where that takes longer; `end` when the unsealed state is published, or when the peer was
   * sealed meanwhile. Neither rejects: a store that cannot be read halts.
   */
  unseal(keys: PeerKeys, act?: OperatorAct): { readonly begun: Promise<void>; readonly end: Promise<Unsealing> } {
    const verification = this.#newVerification();
    this.#verification = verification;
    const end = this.#unseal(keys, verification, act).finally(() => {
      if (this.#verification === verification) this.#verification = undefined;
      if (this.#unsealing === end) this.#unsealing = undefined;
    });
    this.#unsealing = end;
    return { begun: verification.begun, end };
  }

  async #unseal(keys: PeerKeys, verification: Verification, act?: OperatorAct): Promise<Unsealing> {
    const { driver, store } = this.#running;
    store.useKey(keys.integrity);
    this.#dispatch({ _tag: "Verifying" });
    const fault = bringLaterKeys(store, keys) ?? (await verification.run());
    if (verification.isStopped) return { _tag: "SealedMeanwhile" };
    this.#keys = keys;
    if (fault !== undefined) this.#dispatch({ _tag: "IntegrityLost", where: fault });
    this.#ports.metrics.count("custody_events_total", "Unsealed");
    const acts = act === undefined ? [] : this.#operators.withWaiting({ ...act, at: this.#ports.clock.read().now });
    this.#guarded(() => driver.unseal({ signer: keys.identity, shareVault: keys.shareVault }, acts));
    while (!driver.state.fitness.unsealed && driver.state.fitness.integrityFault === undefined)
      await this.#nextPublication();
    const isAudited = this.#operators.hasWritten(acts);
    this.#operators.handOver();
    const { integrityFault } = driver.state.fitness;
    return { _tag: "Unsealed", integrityFault, isAudited, rest: this.#verifyRest(integrityFault) };
  }

  async #verifyRest(before: string | undefined): Promise<string | undefined> {
    if (before !== undefined) return undefined;
    const verification = this.#newVerification();
    this.#rest = verification;
    const fault = await verification.runRest();
    if (fault !== undefined && !verification.isStopped) this.reading.integrityLost(fault);
    return fault;
  }

  #newVerification(): Verification {
    const { elapsedMillis } = this.#ports;
    return new Verification({ store: this.#running.store, elapsedMillis, broken: (fault) => this.#broken(fault) });
  }

  /** Records an operator's act, or refusal, that is in no other transaction. Rejects where it may not be durable. */
  record(act: OperatorAct): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#operators.record(act, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
  }

  /**
   * Declares that this peer's disk is older than what it once said; also while it is sealed, and then it takes
   * effect with the unseal of this process.
   */
  async restore(operation: Operation): Promise<Answer> {
    const acts = this.#operators.withWaiting(operation.act);
    const answer = await this.#callers.ask(
      (requestId) => this.#dispatch({ _tag: "DeclareRestore", requestId, acts }),
      "The declaration was not written in time; it may still take effect.",
      "Look at mode and incarnation in the status: repeating begins one more incarnation.",
    );
    if (answer._tag === "Restoring" && answer.incarnation !== undefined) operation.written();
    return answer;
  }

  /** Makes this instance, which is alone, a cluster; answered once that is pinned, or with what is in the way. */
  promote(wish: PromotionWish): Promise<Answer> {
    return this.#callers.ask(
      (requestId) => this.#dispatch({ ...wish, _tag: "Promote", requestId }),
      "The targets were not all asked in time; the promotion may still be pinned.",
      "Ask for the promotion: the same plan again is harmless.",
    );
  }

  /**
   * Seals everything from now on with a new integrity key; what older ones sealed stays as it is.
   *
   * @param seed 32 fresh random bytes; overwrite them afterwards
   */
  async rotateIntegrity(seed: Uint8Array, operation: Operation): Promise<Answer> {
    const keys = this.#keys;
    if (keys === undefined)
      return { _tag: "Rejected", rejection: this.#verification === undefined ? sealed : beingVerified };
    const integrity = keys.integrityKeyOf(seed);
    const { publicKey } = integrity;
    const blob = keys.later.wrap(publicKey, seed, Uint8Array.from(randomBytes(24)));
    // In memory before it is in use: all after the row that names it is sealed with it.
    this.#running.store.addKey(integrity);
    const acts = this.#operators.withWaiting(operation.act);
    const answer = await this.#callers.ask(
      (requestId) => this.#dispatch({ _tag: "RotateIntegrity", requestId, publicKey, blob, acts }),
      "The new key was not written in time; it may still come into use.",
      "Look at integrityKeyVersion in the status; repeating makes one more key.",
    );
    if (answer._tag === "Rotated") operation.written();
    return answer;
  }

  /** Stores the keys under other shares; the earlier ones do not open this vault any more. */
  async rekey(vault: Uint8Array, operation: Operation): Promise<Answer> {
    const acts = this.#operators.withWaiting(operation.act);
    const answer = await this.#callers.ask(
      (requestId) => this.#dispatch({ _tag: "Rekey", requestId, vault, acts }),
      "The vault was not written in time; it may still be.",
      "Keep both sets of shares until an unseal has shown which one opens it.",
    );
    if (answer._tag === "Rekeyed") operation.written();
    return answer;
  }

  /** Takes the keys out of use once everything before it is done; a verification of records ends unfinished. */
  async seal(operation: Operation): Promise<void> {
    this.#verification?.stop();
    this.#verification = undefined;
    this.#rest?.stop();
    const acts = this.#operators.withWaiting(operation.act);
    this.#dispatch({ _tag: "Sealed", acts });
    // Events before it may still write, however long their flush takes, and need the keys for it.
    while (this.state.fitness.unsealed || this.state.fitness.verifying)
      await new Promise((resolve) => void setTimeout(resolve, SEALED_POLL_MILLIS));
    if (this.#operators.hasWritten(acts)) operation.written();
    this.#keys = undefined;
    this.#running.store.useKey(undefined);
  }

  /** Nothing more is done; a flush under way is the store's to finish. */
  stop(): void {
    for (const each of [this.#verification, this.#rest]) each?.stop();
    this.#timers.clear();
    this.#initializing.stop();
    this.#running.driver.stop();
  }

  #start(bytes: ByteStore, keys?: PeerKeys): Running {
    const { backend, settings, clock, elapsedMillis, flushed, judgesTokens, halt } = this.#ports;
    const store = new SealedStore(bytes, backend.crypto);
    if (keys !== undefined) store.useKey(keys.integrity);
    const driver = new PeerDriver({
      store: observedStore(store, { elapsedMillis, flushed, published: () => this.#tellPublished() }),
      clock: () => clock.read(),
      entropy,
      crypto: backend.crypto,
      commands,
      providers: backend.providers,
      ceremony: backend.ceremony,
      keyCrypto: backend.keyCrypto,
      settings,
      judgesTokens,
      isWhole: () => store.isWhole,
      send: (to, message) => this.envelopes.send(to, message),
      sendAhead: (to, message) => this.envelopes.sealAhead(to, message),
      giveWay: pauses(),
      reply: (requestId, answer) => this.#callers.answer(requestId, answer),
      setTimer: (timer, afterMillis) => this.#timers.set(timer, afterMillis),
      halt,
    });
    return { driver, store };
  }

  #dispatch(event: Event, consumed?: () => void): void {
    const kind = event._tag === "Deliver" ? event.message._tag : event._tag;
    this.#ports.metrics.count("custody_events_total", kind);
    this.#guarded(() => this.#running.driver.dispatch(event, consumed));
  }

  /** A fault unknown to the driver leaves it in the middle of an event: nothing may go on. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (fault) {
      this.#broken(fault);
    }
  }

  #broken(fault: unknown): void {
    this.stop();
    this.#ports.halt(fault instanceof Error ? fault : new Error("an unknown fault"));
  }

  async #audit(acts: ReadonlyArray<NumberedAct>): Promise<boolean | undefined> {
    const answer = await this.#callers.ask(
      (requestId) => this.#dispatch({ _tag: "Operated", requestId, acts }),
      "What operators did was not written in time.",
    );
    return answer._tag === "Audited" ? answer.done : undefined;
  }

  #nextPublication(): Promise<void> {
    return new Promise((resolve) => this.#publication.add(resolve));
  }

  #tellPublished(): void {
    const waiting = [...this.#publication];
    this.#publication.clear();
    for (const resolve of waiting) resolve();
    const topology = this.state.cluster.membership?.topology;
    if (this.#isFounded || topology === undefined) return;
    this.#isFounded = true;
    this.#ports.founded(topology);
  }
}
