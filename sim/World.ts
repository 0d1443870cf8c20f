/**
 * The simulated world: virtual time, a network, peers that run the real driver
 * on simulated disks, and checkers that are told of everything.
 */
import { Either } from "effect";
import type { Answer } from "../core/Action.ts";
import type { Digest } from "../core/Digest.ts";
import type { ActorCheck, Settings, TimerName } from "../core/Event.ts";
import { InvariantViolation } from "../core/Invariant.ts";
import type { PeerState } from "../core/PeerState.ts";
import type { Call } from "../core/protocol/Forward.ts";
import type { Message } from "../core/protocol/Message.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import type { Rows, Write } from "../core/Tables.ts";
import { StoreFailure } from "../runtime/ByteStore.ts";
import { delivery, tokensIn } from "../runtime/Ingress.ts";
import { IntegrityFailure } from "../runtime/PeerStore.ts";
import { Census } from "./Census.ts";
import { Checkers } from "./Checkers.ts";
import { AUDIENCE, Commands } from "./Commands.ts";
import { type Cryptography, fastCryptography, realCryptography } from "./Cryptography.ts";
import { Ghost } from "./Ghost.ts";
import type { FlushEnd } from "./LayeredDisk.ts";
import { Network } from "./Network.ts";
import { Oracle } from "./Oracle.ts";
import type { Observer, Origin } from "./Observer.ts";
import type { Plan } from "./Plan.ts";
import { type Streams, streamsOf } from "./Prng.ts";
import { Scheduler } from "./Scheduler.ts";
import { SimPeer } from "./SimPeer.ts";
import type { Trace } from "./Trace.ts";
import { Violation } from "./Violation.ts";
import type { Packet } from "./Wire.ts";

const NO_ACTORS: ReadonlyArray<ActorCheck> = [];
/** Where virtual time begins on the calendar. */
const EPOCH_MILLIS = 1_800_000_000_000;
const CONFIG_DIGEST = "c".repeat(64) as Digest;
const BOOTSTRAP_SECRET = Uint8Array.of(1, 2, 3, 4);
/** Packets kept for those who replay old ones. */
const KEPT_PACKETS = 64;
/** A full sweep happens after this many events. */
const SWEEP_EVENTS = 2_000;

/** How long a crashed peer stays down, and a started one sealed, at most: mostly not long. */
const DOWN_MICROS = [20_000, 200_000, 500_000, 8_000_000] as const;
const SEALED_MICROS = [5_000, 50_000, 100_000, 2_000_000] as const;

/** What the slowest disk takes for one flush. */
const SLOWEST_FLUSH_MICROS = 4_000_000;

export type CrashKind = "process" | "process, bytes visible" | "power";

/** A packet as it was sent, for the faults that replay or alter one. */
export interface SentPacket {
  readonly from: SimPeer;
  readonly to: number;
  readonly packet: Packet;
  readonly message: Message;
}

/** Watches for the moment a schedule waits for. */
export interface Nemesis {
  /** Before any peer starts. */
  readonly started?: (world: World) => void;
  readonly sent?: (world: World, peer: SimPeer, to: PeerId, message: Message) => void;
  readonly flushed?: (world: World, peer: SimPeer, writes: ReadonlyArray<Write>) => void;
}

/** How a run may be made to misbehave on purpose (PlantedBugs.ts). Each takes the place of what is right. */
export interface Tampering {
  /** How a flush ends. */
  readonly flushEnd?: (peer: SimPeer) => FlushEnd | undefined;
  /** The message a peer handles; the checkers see the real one. */
  readonly delivered?: (world: World, peer: SimPeer, message: Message) => Message;
  /** What a peer believes of a token. */
  readonly judged?: (world: World, peer: SimPeer, check: ActorCheck) => ActorCheck;
  /** The rows that reach a disk. */
  readonly written?: (world: World, peer: SimPeer, writes: ReadonlyArray<Write>) => ReadonlyArray<Write>;
  readonly cryptography?: (cryptography: Cryptography) => Cryptography;
  /** The answer a caller gets. */
  readonly answered?: (world: World, answer: Answer) => Answer;
  /** Edits a published state in place. */
  readonly stepped?: (world: World, peer: SimPeer, state: PeerState) => void;
  /** What a read gives. */
  readonly read?: (found: Rows["approvers"] | undefined) => Rows["approvers"] | undefined;
  /** A peer that finds its rows damaged does not tell its core. */
  readonly ignoresDamage?: boolean;
}

/** Who is told of answers to callers. */
export interface AnswerListener {
  readonly answered: (requestId: string, answer: Answer) => void;
}

export class World {
  readonly plan: Plan;
  readonly streams: Streams;
  readonly scheduler = new Scheduler();
  readonly network: Network;
  readonly cryptography: Cryptography;
  readonly commands: Commands;
  readonly ghost: Ghost;
  readonly peers: ReadonlyArray<SimPeer>;
  readonly trace: Trace;
  /** Faults injected, by name. */
  readonly faults: Census;
  /** Situations reached, by name. */
  readonly marks: Census;
  readonly nemeses: Array<Nemesis> = [];
  readonly recent: Array<SentPacket> = [];
  /** True from the moment nothing more is done to the world. */
  healed = false;
  /** Delivered messages, fired timers, finished flushes, crashes and starts. */
  events = 0;
  /** Requests and reads of callers; they move a run on, but are not counted as events. */
  calls = 0;
  listener: AnswerListener = { answered: () => undefined };
  readonly #booted;
  readonly #stopped;
  readonly #signed;
  readonly #checkers: Checkers;
  readonly #sent;
  readonly #replied;
  readonly #stepped;
  readonly #redelivered;
  readonly #delivered;
  readonly #read;
  readonly #traced;
  readonly #swept;
  readonly #tampering: Tampering;
  readonly #observer: Observer | undefined;
  readonly #lastState: Array<PeerState | undefined> = [];
  readonly #asked = new Map<string, number>();
  readonly #actionsLeft = new Map<number, number>();
  readonly #flushEnds = new Map<number, FlushEnd>();
  readonly #flushCrashes = new Map<number, CrashKind>();
  readonly #failing = new Set<number>();
  readonly #again = new Map<
    number,
    { readonly process: number; readonly run: () => void; readonly message: Message }
  >();
  readonly #slowDisks = new Map<number, number>();
  #alterNext: ((message: Message) => Message | undefined) | undefined;
  #opening = 0;
  #requests = 0;
  #nextSweep = SWEEP_EVENTS;
  readonly #nonce = (): Digest => this.streams.entropy.digest();
  /** Token keys cannot be had at these peers. */
  readonly keysUnavailable = new Set<number>();

  constructor(plan: Plan, trace: Trace, tampering: Tampering = {}, observer?: Observer) {
    this.plan = plan;
    this.trace = trace;
    this.#tampering = tampering;
    this.#observer = observer;
    this.faults = new Census(observer && ((name) => observer.counted("fault", name)));
    this.marks = new Census(observer && ((name) => observer.counted("mark", name)));
    this.streams = streamsOf(plan.seed);
    const honest = plan.real ? realCryptography(this.streams.entropy) : fastCryptography(this.streams.entropy);
    this.cryptography = tampering.cryptography?.(honest) ?? honest;
    this.commands = new Commands(this.cryptography);
    this.network = new Network(plan.peers, plan.network, this.streams.network);
    this.ghost = new Ghost(honest.crypto, plan.peers);
    const checkers = new Checkers(this.ghost, new Oracle(honest.crypto, this.commands, plan.peers));
    this.#booted = checkers.hooks("booted");
    this.#stopped = checkers.hooks("stopped");
    this.#signed = checkers.hooks("signed");
    this.#checkers = checkers;
    this.#sent = checkers.hooks("sent");
    this.#replied = checkers.hooks("replied");
    this.#stepped = checkers.hooks("stepped");
    this.#redelivered = checkers.hooks("redelivered");
    this.#delivered = checkers.hooks("delivered");
    this.#read = checkers.hooks("read");
    this.#traced = checkers.hooks("traced");
    this.#swept = checkers.hooks("swept");
    this.peers = Array.from({ length: plan.peers }, (_, index) => this.#newPeer(index + 1));
    observer?.began(this);
  }

  get now(): number {
    return this.scheduler.now;
  }

  get realMillis(): number {
    return EPOCH_MILLIS + Math.floor(this.scheduler.now / 1000);
  }

  peer(slot: number): SimPeer {
    const peer = this.peers[slot - 1];
    if (peer === undefined) throw new RangeError(`there is no peer ${slot}`);
    return peer;
  }

  after(micros: number, run: () => void): void {
    this.scheduler.after(micros, run);
  }

  #note(what: string, who: number, detail: string, other = 0): void {
    for (const hook of this.#traced) hook(detail);
    this.trace.note(this.scheduler.now, who, what, detail, other);
    this.#observer?.noted(what, who, detail, other);
  }

  #settings(slot: number): Settings {
    return {
      configDigest: CONFIG_DIGEST,
      audience: AUDIENCE,
      issuer: undefined,
      peers: Array.from({ length: this.plan.peers }, (_, index) => index + 1).filter((each) => each !== slot),
      bootstrapSecret: BOOTSTRAP_SECRET,
      development: false,
      answerMillis: 10_000,
    };
  }

  #newPeer(slot: number): SimPeer {
    const { clock } = this.streams;
    const { clockOffsetMillis, clockDriftPerMillion } = this.plan;
    const peer: SimPeer = new SimPeer(slot, this.#settings(slot), {
      cryptography: this.cryptography,
      entropy: () => this.streams.entropy.digest(),
      realMillis: () => this.realMillis,
      ignoresDamage: this.#tampering.ignoresDamage === true,
      elapsedMillis: () => Math.floor(this.scheduler.now / 1000),
      scheduleFlush: (each) => this.#scheduleFlush(each),
      written: (each, writes) => this.#tampering.written?.(this, each, writes) ?? writes,
      durable: (each, writes) => this.#durable(each, writes),
      signing: (each, tag) => {
        for (const hook of this.#signed) hook(each, tag);
      },
      send: (each, to, message) => {
        if (this.#mayAct(each)) this.#send(each, to, message);
      },
      reply: (each, requestId, answer) => {
        if (this.#mayAct(each)) this.#reply(each, requestId, answer);
      },
      setTimer: (each, timer, afterMillis) => {
        if (this.#mayAct(each)) this.#setTimer(each, timer, afterMillis);
      },
      halted: (each, reason) => this.#halted(each, reason),
    });
    // Clocks at the two ends of what is allowed are the ones that decide deadlines differently.
    peer.clock.offsetMillis = clock.chance(400)
      ? clock.pick([-clockOffsetMillis, clockOffsetMillis])
      : clock.between(-clockOffsetMillis, clockOffsetMillis);
    peer.clock.driftPerMillion = clock.between(-clockDriftPerMillion, clockDriftPerMillion);
    return peer;
  }

  // What peers do.

  /** Whether the next action of a step happens; the peer may be to crash before it. */
  #mayAct(peer: SimPeer): boolean {
    if (this.#actionsLeft.size === 0) return true;
    const left = this.#actionsLeft.get(peer.slot);
    if (left === undefined) return true;
    if (left > 0) {
      this.#actionsLeft.set(peer.slot, left - 1);
      return true;
    }
    this.#actionsLeft.delete(peer.slot);
    this.marks.add("crashed between two actions");
    this.crash(peer, this.streams.crashes.pick(["process", "power"]));
    return false;
  }

  #send(peer: SimPeer, to: PeerId, message: Message): void {
    const { state } = peer;
    if (state === undefined) return;
    for (const hook of this.#sent) hook(peer, message);
    const altered = this.#alterNext?.(message);
    if (altered !== undefined) this.#alterNext = undefined;
    const packet = this.cryptography.wire.seal(state, peer.signer, this.#nonce, to, altered ?? message);
    const slot = peer.addresses.get(to);
    if (packet === undefined || slot === undefined) return;
    if (this.recent.length >= KEPT_PACKETS) this.recent.shift();
    this.recent.push({ from: peer, to: slot, packet, message });
    this.#note("send to", peer.slot, message._tag, to);
    this.#observer?.sent({
      from: peer.slot,
      to: slot,
      packet,
      message: altered ?? message,
      isAltered: altered !== undefined,
    });
    if (message._tag === "Commit" && message.certificates.length > 0 && state.membership?.writer !== state.peer?.peerId)
      this.marks.add("a certificate delivered by another than the writer");
    for (const delay of this.network.route(peer.slot, slot)) this.transmit(slot, packet, delay);
    for (const nemesis of this.nemeses) nemesis.sent?.(this, peer, to, message);
  }

  /** Puts a packet on the wire; it arrives after `delay` microseconds. Who made it of an older one says so. */
  transmit(to: number, packet: Packet, delay: number, origin?: Origin): void {
    const copy = this.#observer?.transmitted(to, packet, delay, origin);
    this.scheduler.after(delay, () => this.#arrive(this.peer(to), packet, copy));
  }

  #arrive(peer: SimPeer, packet: Packet, copy: number | undefined): void {
    const { state } = peer;
    if (state === undefined) return this.#observer?.missed(copy);
    this.events += 1;
    this.#observer?.arriving(copy);
    const opened = this.cryptography.wire.open(this.cryptography.crypto, state, packet);
    if (Either.isLeft(opened)) {
      this.marks.add("envelope refused");
      return this.#note("refuse", peer.slot, opened.left);
    }
    const { from } = opened.right;
    const { message } = opened.right;
    const handled = this.#tampering.delivered?.(this, peer, message) ?? message;
    this.#note("deliver from", peer.slot, message._tag, from);
    const tokens = tokensIn(handled);
    const actors = tokens.length === 0 ? NO_ACTORS : tokens.map((token) => this.#judge(peer, token));
    const event = delivery(from, handled, actors);
    for (const hook of this.#delivered) hook(peer, message);
    peer.dispatch(event);
    if (this.streams.network.chance(this.plan.redelivery))
      this.#again.set(peer.slot, { process: peer.process, run: () => peer.dispatch(event), message });
    this.#settle(peer);
  }

  #judge(peer: SimPeer, token: string): ActorCheck {
    if (this.keysUnavailable.has(peer.slot)) return { _tag: "Unavailable" };
    const check = this.commands.judge(token);
    return this.#tampering.judged?.(this, peer, check) ?? check;
  }

  #reply(peer: SimPeer, requestId: string, real: Answer): void {
    const answer = this.#tampering.answered?.(this, real) ?? real;
    const askedAt = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    const detail = answer._tag === "Rejected" ? answer.rejection.code : answer._tag;
    this.#note("reply", peer.slot, detail, Number(requestId.slice(1)) || 0);
    this.#observer?.replied(peer.slot, requestId, answer);
    for (const hook of this.#replied) hook(peer, { requestId, answer, askedAt, repliedAt: this.now });
    this.marks.add(answer._tag === "Registered" ? `answered ${answer.created ? 201 : 200}` : `answered ${detail}`);
    if (requestId.startsWith("init-") && answer._tag === "Initialized") this.#unsealSoon(peer);
    this.listener.answered(requestId, answer);
  }

  /** The next message that `alter` has something to change in goes out changed. */
  alterNext(alter: (message: Message) => Message | undefined): void {
    this.#alterNext = alter;
  }

  #setTimer(peer: SimPeer, timer: TimerName, afterMillis: number): void {
    const { process } = peer;
    this.scheduler.after(afterMillis * 1000, () => {
      if (!peer.isUp || peer.process !== process) return;
      this.events += 1;
      this.#note("timer", peer.slot, timer);
      peer.dispatch({ _tag: "TimerFired", timer });
      this.#settle(peer);
    });
  }

  #halted(peer: SimPeer, reason: Error): void {
    if (reason instanceof Violation) throw reason;
    if (reason instanceof InvariantViolation)
      throw new Violation(reason.id, `peer ${peer.slot} halted by itself`, reason.message);
    // Anything but a failing disk is a mistake in this program, and its stack says where.
    if (!(reason instanceof StoreFailure)) throw reason;
    if (!this.#failing.delete(peer.slot))
      throw new Violation(
        "S13",
        `peer ${peer.slot} halted by itself`,
        `its disk was sound and said: ${reason.message}`,
      );
    this.marks.add("halted by a failed flush");
    this.crash(peer, this.streams.crashes.pick(["process", "power"]));
  }

  // Disks.

  /** Makes this peer's flushes `factor` times as slow; 1 is normal. */
  slowDisk(peer: SimPeer, factor: number): void {
    this.#slowDisks.set(peer.slot, factor);
  }

  /** How this peer's next flush will end. */
  armFlush(peer: SimPeer, how: FlushEnd): void {
    this.#flushEnds.set(peer.slot, how);
  }

  /** The peer will crash while its next flush is under way. */
  armCrashDuringFlush(peer: SimPeer, kind: CrashKind): void {
    this.#flushCrashes.set(peer.slot, kind);
  }

  /** The peer will crash before its action number `count` from now. */
  armCrashAfterActions(peer: SimPeer, count: number): void {
    this.#actionsLeft.set(peer.slot, count);
  }

  #scheduleFlush(peer: SimPeer): void {
    const { process } = peer;
    this.#observer?.flushing(peer, peer.underWay);
    const { leastFlushMicros, mostFlushMicros } = this.plan.disk;
    const usual = this.streams.disk.between(leastFlushMicros, mostFlushMicros);
    const latency = Math.min(usual * (this.#slowDisks.get(peer.slot) ?? 1), SLOWEST_FLUSH_MICROS);
    const crash = this.#flushCrashes.get(peer.slot);
    if (crash !== undefined) {
      this.#flushCrashes.delete(peer.slot);
      this.scheduler.after(this.streams.crashes.below(latency), () => {
        if (peer.isUp && peer.process === process) this.crash(peer, crash);
      });
    }
    this.scheduler.after(latency, () => {
      if (!peer.isUp || peer.process !== process || !peer.disk.flushing) return;
      this.events += 1;
      this.#endFlush(peer);
      this.#settle(peer);
    });
  }

  #endFlush(peer: SimPeer): void {
    const how = this.#tampering.flushEnd?.(peer) ?? this.#flushEnds.get(peer.slot) ?? "durable";
    this.#flushEnds.delete(peer.slot);
    if (how.startsWith("failed")) this.#failing.add(peer.slot);
    this.#note("flush", peer.slot, how, peer.underWay.length);
    peer.endFlush(how);
    if (how === "durable, unreported") {
      this.marks.add("crashed after a flush, before it was reported");
      this.crash(peer, "process");
    }
  }

  #durable(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    this.ghost.flushed(peer, writes);
    this.#markRare(writes);
    this.#checkers.flushed(peer, writes);
    for (const nemesis of this.nemeses) nemesis.flushed?.(this, peer, writes);
  }

  #markRare(writes: ReadonlyArray<Write>): void {
    let prepared = 0;
    for (const write of writes) {
      if (write.op === "remove") continue;
      if (write.table === "preparations") prepared += 1;
      if (write.table === "refusals") this.marks.add(`refused: ${write.row.refusal.statement.detail}`);
      if (write.table === "counters" && write.row.quarantine !== undefined) this.marks.add("quarantined");
    }
    if (prepared > 1) this.marks.add(prepared < 16 ? "a batch of several" : "a batch of 16 or more");
  }

  // Processes.

  /** Nothing is done to the world any more, and what was about to be is called off. */
  stopFaults(): void {
    this.healed = true;
    this.#observer?.healed();
    this.nemeses.length = 0;
    this.keysUnavailable.clear();
    this.#flushEnds.clear();
    this.#flushCrashes.clear();
    this.#actionsLeft.clear();
    this.#slowDisks.clear();
    this.#alterNext = undefined;
  }

  /** Ends a peer's process; it comes back by itself after a while unless told otherwise. */
  crash(peer: SimPeer, kind: CrashKind, comesBack = true): void {
    if (this.healed && comesBack) return;
    if (!peer.isUp) {
      if (kind === "power") peer.losePower();
      return;
    }
    this.events += 1;
    this.#note("crash", peer.slot, kind);
    this.faults.add(`crash: ${kind}`);
    if (peer.disk.flushing) this.marks.add("crashed before a flush ended");
    if (kind === "power") peer.losePower();
    else peer.crash(kind === "process, bytes visible");
    this.#actionsLeft.delete(peer.slot);
    this.#flushEnds.delete(peer.slot);
    this.#flushCrashes.delete(peer.slot);
    this.#again.delete(peer.slot);
    this.#lastState[peer.slot] = undefined;
    for (const hook of this.#stopped) hook(peer, this.now);
    const { crashes } = this.streams;
    if (comesBack) this.after(crashes.between(1_000, crashes.pick(DOWN_MICROS)), () => this.start(peer));
  }

  /** Starts a peer's process, first making durable what the open finds. */
  start(peer: SimPeer): void {
    if (peer.isUp) return;
    const ticket = ++this.#opening;
    peer.opening = ticket;
    const wait = peer.disk.isVolatile ? this.streams.disk.between(100, 20_000) : 0;
    if (wait > 0) this.marks.add("opened on bytes that were not durable");
    this.after(wait, () => {
      if (peer.isUp || peer.opening !== ticket) return;
      this.#boot(peer);
    });
  }

  #boot(peer: SimPeer): void {
    this.events += 1;
    this.#note("start", peer.slot, "");
    try {
      peer.start();
    } catch (fault) {
      if (peer.isDamaged && (fault instanceof IntegrityFailure || fault instanceof InvariantViolation)) {
        this.marks.add("a damaged peer did not start");
        return;
      }
      if (fault instanceof InvariantViolation)
        throw new Violation(fault.id, `peer ${peer.slot} was started on an undamaged disk`, fault.message);
      throw fault;
    }
    for (const hook of this.#booted) hook(peer);
    // An operator does not initialize what was initialized before, even where the peer no longer knows.
    if (peer.state?.peer === undefined && !peer.isDamaged) this.#initialize(peer);
    else this.#unsealSoon(peer);
    this.#settle(peer);
  }

  #initialize(peer: SimPeer): void {
    const { identity, integrity } = peer.keys;
    const { peers } = this.plan;
    peer.dispatch({
      _tag: "Initialize",
      requestId: `init-${peer.slot}-${++this.#requests}`,
      peerId: peer.peerId,
      threshold: peers === 1 ? 1 : Math.floor(peers / 2) + 1,
      total: peers,
      identityKey: identity.publicKey,
      integrityKey: integrity.publicKey,
      vault: new Uint8Array(8),
    });
  }

  #unsealSoon(peer: SimPeer): void {
    const { process } = peer;
    const { crashes } = this.streams;
    this.after(crashes.between(500, this.healed ? 5_000 : crashes.pick(SEALED_MICROS)), () => {
      if (peer.isUp && peer.process === process) this.unseal(peer);
    });
  }

  /** An operator brings a sealed peer's keys back. */
  unseal(peer: SimPeer): void {
    if (!peer.isUp || peer.signer !== undefined || peer.state?.peer === undefined) return;
    this.#note("unseal", peer.slot, "");
    peer.unseal();
    this.#settle(peer);
  }

  seal(peer: SimPeer): void {
    if (!peer.isUp || peer.signer === undefined) return;
    this.#note("seal", peer.slot, "");
    peer.dispatch({ _tag: "Sealed" });
    peer.isSealing = true;
    this.#settle(peer);
  }

  /** After anything happened to a peer: let checkers see a new state, finish a seal, hand over a message again. */
  #settle(peer: SimPeer): void {
    const { state } = peer;
    if (state === undefined) return;
    if (peer.isSealing && !state.unsealed && peer.isIdle) {
      peer.isSealing = false;
      peer.forgetKeys();
    }
    if (state !== this.#lastState[peer.slot]) {
      this.#tampering.stepped?.(this, peer, state);
      this.#lastState[peer.slot] = state;
      this.#observer?.stepped(peer);
      for (const hook of this.#stepped) hook(peer);
    }
    const again = this.#again.get(peer.slot);
    if (again === undefined || !peer.isIdle) return;
    this.#again.delete(peer.slot);
    if (again.process !== peer.process) return;
    const before = peer.transactions;
    again.run();
    for (const hook of this.#redelivered) hook(peer, again.message, peer.transactions - before);
    this.#settle(peer);
  }

  // Callers.

  /** Sends a mutation to a peer; false when nobody is there. */
  request(peer: SimPeer, requestId: string, call: Call, token: string): boolean {
    if (!peer.isUp) {
      this.#observer?.acted("unreachable", peer.slot, requestId, false);
      return false;
    }
    this.calls += 1;
    this.#asked.set(requestId, this.now);
    this.#note("request", peer.slot, "", Number(requestId.slice(1)));
    const actor = this.#judge(peer, token);
    this.#observer?.asked(peer.slot, requestId, call, actor);
    peer.dispatch({ _tag: "Command", requestId, call, token, actor });
    this.#settle(peer);
    return true;
  }

  /** Nobody waits for the answer to this request any more. */
  forget(requestId: string): void {
    this.#asked.delete(requestId);
    this.#observer?.forgot(requestId);
  }

  /** Asks a peer whether it would take a mutation now. */
  askReadiness(peer: SimPeer, requestId: string): boolean {
    if (!peer.isUp) return false;
    this.calls += 1;
    this.#observer?.acted("readiness", peer.slot, requestId, true);
    peer.dispatch({ _tag: "CheckReadiness", requestId });
    this.#settle(peer);
    return true;
  }

  /** Reads an approver from a peer's committed rows, as a GET does; undefined where nobody answers or it is not there. */
  read(peer: SimPeer, ref: string): Rows["approvers"] | undefined {
    if (!peer.isUp || peer.isDamaged) return undefined;
    this.calls += 1;
    const before = peer.transactions;
    const stored = peer.store.get("approvers", ref);
    const found = this.#tampering.read === undefined ? stored : this.#tampering.read(stored);
    this.#observer?.acted("read", peer.slot, ref, found !== undefined);
    if (!peer.isIdle) this.marks.add("read while a flush was under way");
    for (const hook of this.#read) hook(peer, { ref, found, transactions: peer.transactions - before });
    return found;
  }

  /** A request id nobody else has. */
  newRequestId(): string {
    return `r${++this.#requests}`;
  }

  // The run.

  /** Runs until `until` microseconds, or until `steps` events and calls, whichever is first; sweeps now and then. */
  run(until: number, steps = Number.POSITIVE_INFINITY): void {
    while (this.events + this.calls < steps && this.scheduler.runNext(until)) {
      this.#observer?.ticked();
      if (this.events >= this.#nextSweep) {
        this.#nextSweep = this.events + SWEEP_EVENTS;
        this.sweep();
      }
    }
    if (this.events + this.calls < steps) this.scheduler.advanceTo(until);
  }

  /** Lets every checker look at everything. */
  sweep(): void {
    for (const hook of this.#swept) hook(this.peers);
  }
}
