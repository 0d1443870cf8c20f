/**
 * The simulated world: virtual time, a network, peers that run the real driver
 * on simulated disks, and checkers that are told of everything.
 */
import type { Answer } from "../core/Action.ts";
import type { Signer } from "../core/Crypto.ts";
import type { Digest } from "../core/Digest.ts";
import type { ActorCheck, Event, Settings, TimerName } from "../core/Event.ts";
import { InvariantViolation } from "../core/Invariant.ts";
import type { PeerState } from "../core/PeerState.ts";
import type { Message } from "../core/protocol/Message.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import type { Rows, TableName, Write } from "../core/Tables.ts";
import { StoreFailure } from "../runtime/ByteStore.ts";
import { delivery, tokensIn } from "../runtime/Ingress.ts";
import { IntegrityFailure } from "../runtime/PeerStore.ts";
import { Census } from "./Census.ts";
import { Checkers } from "./Checkers.ts";
import type { Choices, Stream, Stretch, Unit } from "./Choices.ts";
import { AUDIENCE, type Command, Commands, type Replacement } from "./Commands.ts";
import { type Backend, type Cryptography, cryptographyOf, type PeerKeys } from "./Cryptography.ts";
import { Deadlines } from "./Deadlines.ts";
import type { Finish, Invite } from "./EnrollmentRequests.ts";
import { Ghost, maskOf } from "./Ghost.ts";
import type { FlushEnd } from "./LayeredDisk.ts";
import { Network } from "./Network.ts";
import { Oracle } from "./Oracle.ts";
import type { Observer, Origin } from "./Observer.ts";
import type { Plan } from "./Plan.ts";
import { entropyOf, type Prng } from "./Prng.ts";
import { Scheduler } from "./Scheduler.ts";
import { SimPeer } from "./SimPeer.ts";
import { simRelyingParty } from "./SimRelyingParty.ts";
import type { Trace } from "./Trace.ts";
import { Violation } from "./Violation.ts";
import type { Packet } from "./Wire.ts";
import { Witness } from "./Witness.ts";

const NO_ACTORS: ReadonlyArray<ActorCheck> = [];
/** Where virtual time begins on the calendar. */
const EPOCH_MILLIS = 1_800_000_000_000;
const CONFIG_DIGEST = "c".repeat(64) as Digest;
const BOOTSTRAP_SECRET = Uint8Array.of(1, 2, 3, 4);
/** Packets kept for those who replay old ones. */
export const KEPT_PACKETS = 64;
/** A full sweep happens after this many events. */
const SWEEP_EVENTS = 2_000;

type Stretches = readonly [Stretch, ...ReadonlyArray<Stretch>];
/** How long a crashed peer stays down, and a started one sealed: mostly not long. */
const DOWN_MICROS: Stretches = [
  [1_000, 20_000],
  [1_000, 200_000],
  [1_000, 500_000],
  [1_000, 8_000_000],
];
const SEALED_MICROS: Stretches = [
  [500, 5_000],
  [500, 50_000],
  [500, 100_000],
  [500, 2_000_000],
];
const SEALED_HEALED_MICROS: Stretches = [[500, 5_000]];
/** The limits of both, and what each usually takes. */
const LONGEST_DOWN_MICROS = 8_000_000;
const USUAL_DOWN_MICROS = 10_000;
const LONGEST_SEALED_MICROS = 2_000_000;
const USUAL_SEALED_MICROS = 1_000;
const USUAL_FLUSH_MICROS = 150;
const MOST_OFFSET_MILLIS = 2_500;
const MOST_DRIFT_PER_MILLION = 500;

/** What the slowest disk takes for one flush. */
const SLOWEST_FLUSH_MICROS = 4_000_000;

export type CrashKind = "process" | "process, bytes visible" | "power" | "power, torn write";

/** A packet as it was sent, for the faults that replay or alter one. */
export interface SentPacket {
  readonly from: SimPeer;
  readonly to: number;
  readonly packet: Packet;
  readonly message: Message;
}

/** A message that will come again, byte for byte, as soon as its receiver is done with it. */
interface Again {
  readonly message: Message;
  readonly run: () => void;
  /** As its receiver was when it came: which process, and how much it had been given. */
  readonly process: number;
  readonly taken: number;
  /** What has kept the receiver from taking part since then. */
  hindrances: number;
}

/** Stands between a peer's driver and the network: what leaves in place of a message, and what the driver gets to hear. */
export interface Mouthpiece {
  readonly says: (to: PeerId, message: Message) => ReadonlyArray<Message>;
  /** Undefined: the driver hears nothing. */
  readonly hears: (from: PeerId, message: Message) => Message | undefined;
}

/** Watches for the moment a schedule waits for. */
export interface Nemesis {
  /** Before any peer starts. */
  readonly started?: (world: World) => void;
  readonly sent?: (world: World, peer: SimPeer, to: PeerId, message: Message) => void;
  readonly flushed?: (world: World, peer: SimPeer, writes: ReadonlyArray<Write>) => void;
}

/** A caller's request, as a peer takes it in. */
type Asking = Extract<Event, { readonly _tag: "Command" }>;

/** How a run may be made to misbehave on purpose (PlantedBugs.ts). Each takes the place of what is right. */
export interface Tampering {
  /** How a flush ends. */
  readonly flushEnd?: (peer: SimPeer) => FlushEnd | undefined;
  /** A message as a peer's driver says it; the checkers see this one. */
  readonly said?: (peer: SimPeer, message: Message) => Message;
  /** The message a peer handles; the checkers see the real one. */
  readonly delivered?: (world: World, peer: SimPeer, message: Message, from: PeerId) => Message;
  /** A request as it enters through a peer. */
  readonly asked?: (peer: SimPeer, request: Asking) => Asking;
  /** What a peer believes of a token. */
  readonly judged?: (world: World, peer: SimPeer, check: ActorCheck) => ActorCheck;
  /** A row as a peer's core finds it. */
  readonly found?: <T extends TableName>(peer: SimPeer, table: T, row: Rows[T] | undefined) => Rows[T] | undefined;
  /** The rows that reach a disk. */
  readonly written?: (world: World, peer: SimPeer, writes: ReadonlyArray<Write>) => ReadonlyArray<Write>;
  readonly cryptography?: (cryptography: Cryptography) => Cryptography;
  /** The answer a caller gets. */
  readonly answered?: (world: World, answer: Answer) => Answer;
  /** Edits a published state in place. */
  readonly stepped?: (world: World, peer: SimPeer, state: PeerState) => void;
  /** What becomes of an answer between a peer and its caller, where only callers could notice. */
  readonly told?: (world: World, requestId: string, answer: Answer) => Answer;
  /** The same for a read. */
  readonly shown?: (found: Rows["approvers"] | undefined) => Rows["approvers"] | undefined;
  /** What a read gives. */
  readonly read?: (found: Rows["approvers"] | undefined) => Rows["approvers"] | undefined;
  /** A peer that finds its rows damaged does not tell its core. */
  readonly ignoresDamage?: boolean;
}

/** The callers: who is told of answers, and what may be asked of them. */
export interface Callers {
  readonly answered: (requestId: string, answer: Answer) => void;
  /** The next request goes through two peers at once. */
  readonly sendTwice: () => void;
  /** The next request goes out with two versions of its metadata at once. */
  readonly contradict: () => void;
}

/** What a world may be given beside its plan. */
export interface WorldPorts {
  readonly tampering?: Tampering | undefined;
  readonly observer?: Observer | undefined;
  /** Who computes what is real in it; any one gives the same run. */
  readonly backend?: Backend | undefined;
}

/** Which situation an answer is; the usual ones are not joined of parts, since every map hashes a new text anew. */
const markOf = (answer: Answer): string => {
  switch (answer._tag) {
    case "Registered":
      return answer.created ? "answered 201" : "answered 200";
    case "Replaced":
      return "answered Replaced";
    case "Rejected":
      return `answered ${answer.rejection.code}`;
    default:
      return `answered ${answer._tag}`;
  }
};

/** What a row change shows to have happened that seldom does (Sometimes.ts). */
const rareIn = (write: Write): string | undefined => {
  if (write.op === "remove") return undefined;
  switch (write.table) {
    case "refusals":
      return `refused: ${write.row.refusal.statement.detail}`;
    case "counters":
      return write.row.quarantine === undefined ? undefined : "quarantined";
    case "preparations":
      return write.row.pledge === undefined ? undefined : "a member pledged";
    case "strays":
      return "a stray was kept";
    case "aborts":
      return "an abort waits for all";
    case "slots":
      return write.row.outcome === "APPLIED" && write.row.ack === undefined
        ? "applied and not yet acknowledged"
        : undefined;
    default:
      return undefined;
  }
};

export class World {
  readonly plan: Plan;
  readonly choices: Choices;
  /** Entropy of the world itself. */
  readonly entropy: Prng;
  readonly scheduler = new Scheduler();
  readonly network: Network;
  readonly cryptography: Cryptography;
  readonly commands: Commands;
  readonly ghost: Ghost;
  readonly peers: ReadonlyArray<SimPeer>;
  /** Keys of a peer of another cluster. */
  readonly strangerKeys: PeerKeys;
  readonly trace: Trace;
  /** Faults injected, by name. */
  readonly faults: Census;
  /** Situations reached, by name. */
  readonly marks: Census;
  readonly nemeses: Array<Nemesis> = [];
  readonly recent: Array<SentPacket> = [];
  /** Microseconds; the moment from which nothing more is done to the world, undefined before it. */
  healedAt: number | undefined;
  /** Delivered messages, fired timers, finished flushes, crashes and starts. */
  events = 0;
  /** Requests and reads of callers; they move a run on, but are not counted as events. */
  calls = 0;
  callers: Callers = { answered: () => undefined, sendTwice: () => undefined, contradict: () => undefined };
  readonly #booted;
  readonly #stopped;
  readonly #signed;
  readonly #checkers: Checkers;
  readonly #sent;
  readonly #replied;
  readonly #unanswered;
  readonly #stepped;
  readonly #redelivered;
  readonly #delivered;
  readonly #read;
  readonly #swept;
  readonly #tampering: Tampering;
  readonly #witness = new Witness();
  readonly #observer: Observer | undefined;
  readonly #lastState: Array<PeerState | undefined> = [];
  readonly #asked = new Map<string, number>();
  readonly #deadlines = new Deadlines();
  readonly #actionsLeft = new Map<number, { left: number; readonly kind: CrashKind }>();
  readonly #flushEnds = new Map<number, { readonly how: FlushEnd; readonly kind: CrashKind }>();
  readonly #flushCrashes = new Map<number, { readonly kind: CrashKind; readonly perMille: number }>();
  readonly #failing = new Map<number, CrashKind>();
  readonly #flushes: ReadonlyArray<Stream>;
  readonly #processes: ReadonlyArray<Stream>;
  /** What is decided about the process of each peer: the one that runs, or the one that comes next. */
  readonly #lives: Array<Unit>;
  readonly #again = new Map<number, Again>();
  readonly #slowDisks = new Map<number, number>();
  readonly #fullDisks = new Set<number>();
  readonly #mouthpieces = new Map<number, Mouthpiece>();
  /** What waits for peers that stand still. */
  readonly #paused = new Map<number, Array<() => void>>();
  #alterNext: ((message: Message) => Message | undefined) | undefined;
  #opening = 0;
  #requests = 0;
  #nextSweep = SWEEP_EVENTS;
  readonly #nonce = (): Digest => this.entropy.digest();
  /** Token keys cannot be had at these peers. */
  readonly keysUnavailable = new Set<number>();
  /** These peers do not know the keys that tokens are signed with now. */
  readonly keysUnknown = new Set<number>();
  /** Tokens that some peer has not believed to be any. */
  readonly disbelieved = new Set<string>();

  constructor(plan: Plan, choices: Choices, trace: Trace, { tampering = {}, observer, backend }: WorldPorts = {}) {
    this.plan = plan;
    this.trace = trace;
    this.#tampering = tampering;
    this.#observer = observer;
    this.faults = new Census(observer && ((name) => observer.counted("fault", name)));
    this.marks = new Census(observer && ((name) => observer.counted("mark", name)));
    this.choices = choices;
    this.entropy = entropyOf(plan.seed, 0);
    const honest = cryptographyOf(plan.crypto, this.entropy, backend);
    this.cryptography = tampering.cryptography?.(honest) ?? honest;
    this.commands = new Commands(this.cryptography);
    this.strangerKeys = this.cryptography.newKeys();
    this.network = new Network(plan.peers, plan.network, plan.redelivery, choices);
    this.ghost = new Ghost(honest.crypto, plan.peers);
    const checkers = new Checkers(this.ghost, new Oracle(honest.crypto, this.commands, plan.peers, plan.sessionMillis));
    this.#booted = checkers.hooks("booted");
    this.#stopped = checkers.hooks("stopped");
    this.#signed = checkers.hooks("signed");
    this.#checkers = checkers;
    this.#sent = checkers.hooks("sent");
    this.#replied = checkers.hooks("replied");
    this.#unanswered = checkers.hooks("unanswered");
    this.#stepped = checkers.hooks("stepped");
    this.#redelivered = checkers.hooks("redelivered");
    this.#delivered = checkers.hooks("delivered");
    this.#read = checkers.hooks("read");
    const traced = checkers.hooks("traced");
    trace.tellNewWords((word) => {
      for (const hook of traced) hook(word);
    });
    this.#swept = checkers.hooks("swept");
    const streams = (component: string): ReadonlyArray<Stream> =>
      Array.from({ length: plan.peers + 1 }, (_, slot) => choices.stream(`${component} ${slot}`));
    this.#flushes = streams("flush");
    this.#processes = streams("process");
    this.#lives = this.#processes.map((stream) => stream.next());
    this.peers = Array.from({ length: plan.peers }, (_, index) => this.#newPeer(index + 1));
    observer?.began(this);
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** True from the moment nothing more is done to the world. */
  get healed(): boolean {
    return this.healedAt !== undefined;
  }

  get realMillis(): number {
    return EPOCH_MILLIS + Math.floor(this.scheduler.now / 1000);
  }

  /** The peer that writes, as the first that is up sees it; before anybody does, the first. */
  get writerSlot(): number {
    for (const { state } of this.peers) if (state?.membership !== undefined) return state.membership.writer;
    return 1;
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
      relyingParty: simRelyingParty(this.plan.sessionMillis),
    };
  }

  #newPeer(slot: number): SimPeer {
    const clock = this.choices.stream(`clock ${slot}`).next();
    const entropy = entropyOf(this.plan.seed, slot);
    const { clockOffsetMillis: most, clockDriftPerMillion: drift } = this.plan;
    const peer: SimPeer = new SimPeer(slot, this.#settings(slot), {
      cryptography: this.cryptography,
      entropy: () => entropy.digest(),
      realMillis: () => this.realMillis,
      ignoresDamage: this.#tampering.ignoresDamage === true,
      found: this.#tampering.found,
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
    const anywhere: Stretch = [-most, most];
    const ends: Stretches = [[-most, -most], [most, most], anywhere, anywhere, anywhere];
    peer.clock.offsetMillis = clock.spread("offset", 0, ends, -MOST_OFFSET_MILLIS, MOST_OFFSET_MILLIS);
    peer.clock.driftPerMillion = clock.between(
      "drift",
      0,
      -drift,
      drift,
      -MOST_DRIFT_PER_MILLION,
      MOST_DRIFT_PER_MILLION,
    );
    return peer;
  }

  // What peers do.

  /** Whether the next action of a step happens; the peer may be to crash before it. */
  #mayAct(peer: SimPeer): boolean {
    if (this.#actionsLeft.size === 0) return true;
    const armed = this.#actionsLeft.get(peer.slot);
    if (armed === undefined) return true;
    if (armed.left > 0) {
      armed.left -= 1;
      return true;
    }
    this.#actionsLeft.delete(peer.slot);
    this.marks.add("crashed between two actions");
    this.crash(peer, armed.kind);
    return false;
  }

  #send(peer: SimPeer, to: PeerId, meant: Message): void {
    const { state } = peer;
    if (state === undefined) return;
    const message = this.#tampering.said?.(peer, meant) ?? meant;
    for (const hook of this.#sent) hook(peer, message);
    const altered = this.#alterNext?.(message);
    if (altered !== undefined) this.#alterNext = undefined;
    this.#note("send to", peer.slot, message._tag, to);
    if (message._tag === "Commit" && message.certificates.length > 0 && state.membership?.writer !== state.peer?.peerId)
      this.marks.add("a certificate delivered by another than the writer");
    const mouthpiece = this.#mouthpieces.get(peer.slot);
    if (mouthpiece === undefined) this.#post(peer, peer.signer, to, altered ?? message, altered !== undefined);
    else for (const said of mouthpiece.says(to, message)) this.utter(peer, to, said);
    for (const nemesis of this.nemeses) nemesis.sent?.(this, peer, to, message);
  }

  /** A peer says something under its own name that its driver did not ask for, or not so; nobody checks it. */
  utter(peer: SimPeer, to: PeerId, message: Message): void {
    this.#post(peer, message._tag === "Ready" ? peer.signer : peer.keys.identity, to, message, true);
  }

  #post(peer: SimPeer, signer: Signer | undefined, to: PeerId, message: Message, isAltered: boolean): void {
    const { state } = peer;
    const slot = peer.addresses.get(to);
    const packet = state && this.cryptography.wire.seal(state, signer, this.#nonce, to, message);
    if (packet === undefined || slot === undefined) return;
    if (this.recent.length >= KEPT_PACKETS) this.recent.shift();
    this.recent.push({ from: peer, to: slot, packet, message });
    this.#observer?.sent({ from: peer.slot, to: slot, packet, message, isAltered });
    const way = this.network.route(peer.slot, slot);
    if (way === undefined) return;
    this.#transmit(slot, packet, way.takes, way.isTwice);
    if (way.copyTakes !== undefined) this.#transmit(slot, packet, way.copyTakes, false);
  }

  /** Whether something stands between a peer and the network. */
  isSpokenFor(peer: SimPeer): boolean {
    return this.#mouthpieces.has(peer.slot);
  }

  /** Puts something between a peer and the network; undefined takes it away. */
  speakThrough(peer: SimPeer, mouthpiece: Mouthpiece | undefined): void {
    if (mouthpiece === undefined) this.#mouthpieces.delete(peer.slot);
    else this.#mouthpieces.set(peer.slot, mouthpiece);
  }

  /** Stops a peer's process for a while, as SIGSTOP does: what reaches it waits and then comes all at once. */
  pause(peer: SimPeer, micros: number): void {
    if (!peer.isUp || this.#paused.has(peer.slot)) return;
    const { process } = peer;
    this.#paused.set(peer.slot, []);
    this.#note("pause", peer.slot, "");
    this.#deadlines.paused(peer, this.now, micros);
    this.scheduler.after(micros, () => {
      if (peer.process === process) this.#resume(peer);
    });
  }

  #resume(peer: SimPeer): void {
    const waiting = this.#paused.get(peer.slot);
    if (waiting === undefined) return;
    this.#paused.delete(peer.slot);
    this.#note("resume", peer.slot, "", waiting.length);
    for (const run of waiting) run();
  }

  /**
   * What waits for a peer that stands still; undefined where it does not. What happens to a peer is made into a
   * closure only where it has to wait: one less for every event.
   */
  #waitingFor(peer: SimPeer): Array<() => void> | undefined {
    return this.#paused.size === 0 ? undefined : this.#paused.get(peer.slot);
  }

  /** Runs something that happens to a peer, now or when it goes on. */
  #whenAwake(peer: SimPeer, run: () => void): void {
    const waiting = this.#waitingFor(peer);
    if (waiting === undefined) run();
    else waiting.push(run);
  }

  /** Puts a packet on the wire; it arrives after `delay` microseconds. Who made it of an older one says so. */
  transmit(to: number, packet: Packet, delay: number, origin?: Origin): void {
    this.#transmit(to, packet, delay, false, origin);
  }

  #transmit(to: number, packet: Packet, delay: number, again: boolean, origin?: Origin): void {
    const copy = this.#observer?.transmitted(to, packet, delay, origin);
    const peer = this.peer(to);
    this.scheduler.after(delay, () => {
      const waiting = this.#waitingFor(peer);
      if (waiting === undefined) this.#arrive(peer, packet, again, copy);
      else waiting.push(() => this.#arrive(peer, packet, again, copy));
    });
  }

  #arrive(peer: SimPeer, packet: Packet, again: boolean, copy: number | undefined): void {
    const { state } = peer;
    if (state === undefined) return this.#observer?.missed(copy);
    this.events += 1;
    this.#observer?.arriving(copy);
    const opened = this.cryptography.wire.open(this.cryptography.crypto, state, packet);
    if (typeof opened === "string") {
      this.marks.add("envelope refused");
      return this.#note("refuse", peer.slot, opened);
    }
    const { from, message } = opened;
    this.#note("deliver from", peer.slot, message._tag, from);
    const mouthpiece = this.#mouthpieces.get(peer.slot);
    const heard = mouthpiece === undefined ? message : mouthpiece.hears(from, message);
    if (heard === undefined) return;
    const handled = this.#tampering.delivered?.(this, peer, heard, from) ?? heard;
    if (this.#isLate(peer, handled)) this.marks.add("a late certificate met a settlement");
    const tokens = tokensIn(handled);
    const actors = tokens.length === 0 ? NO_ACTORS : tokens.map((token) => this.#judge(peer, token));
    const event = delivery(from, handled, actors);
    for (const hook of this.#delivered) hook(peer, message);
    const { process } = peer;
    const hindrances = again ? peer.hindrances : 0;
    peer.dispatch(event);
    if (again)
      this.#again.set(peer.slot, { process, hindrances, taken: peer.taken, run: () => peer.dispatch(event), message });
    this.#settle(peer);
  }

  #judge(peer: SimPeer, token: string): ActorCheck {
    if (this.keysUnavailable.has(peer.slot)) return { _tag: "Unavailable" };
    const real: ActorCheck = this.keysUnknown.has(peer.slot)
      ? { _tag: "Refused", reason: "unknown key" }
      : this.commands.judge(token);
    const check = this.#tampering.judged?.(this, peer, real) ?? real;
    if (check._tag === "Refused") this.disbelieved.add(token);
    return check;
  }

  #reply(peer: SimPeer, requestId: string, real: Answer): void {
    const answer = this.#tampering.answered?.(this, real) ?? real;
    const askedAt = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    this.#deadlines.ended(requestId);
    const detail = answer._tag === "Rejected" ? answer.rejection.code : answer._tag;
    this.#note("reply", peer.slot, detail, Number(requestId.slice(1)) || 0);
    this.#observer?.replied(peer.slot, requestId, answer);
    for (const hook of this.#replied) hook(peer, { requestId, answer, askedAt, repliedAt: this.now });
    this.marks.add(markOf(answer));
    if (answer._tag === "Initialized" && requestId.startsWith("init-")) this.#unsealSoon(peer);
    const told = this.#tampering.told?.(this, requestId, answer) ?? answer;
    if (this.ghost.isLying(peer.slot)) this.#witness.forgot(requestId, told);
    else this.#witness.answered(requestId, this.now, told, this.peer(this.writerSlot).honest);
    this.callers.answered(requestId, told);
  }

  /** The next message that `alter` has something to change in goes out changed. */
  alterNext(alter: (message: Message) => Message | undefined): void {
    this.#alterNext = alter;
  }

  #setTimer(peer: SimPeer, timer: TimerName, afterMillis: number): void {
    const { process } = peer;
    this.scheduler.after(afterMillis * 1000, () => {
      const waiting = this.#waitingFor(peer);
      if (waiting === undefined) this.#fire(peer, process, timer);
      else waiting.push(() => this.#fire(peer, process, timer));
    });
  }

  #fire(peer: SimPeer, process: number, timer: TimerName): void {
    if (!peer.isUp || peer.process !== process) return;
    this.events += 1;
    this.#note("timer", peer.slot, timer);
    peer.dispatch({ _tag: "TimerFired", timer });
    this.#settle(peer);
  }

  #halted(peer: SimPeer, reason: Error): void {
    if (reason instanceof Violation) throw reason;
    if (reason instanceof InvariantViolation)
      throw new Violation(reason.id, `peer ${peer.slot} halted by itself`, reason.message);
    if (reason instanceof IntegrityFailure)
      throw new Violation("S28", `peer ${peer.slot} halted over damage that it had found already`, reason.message);
    // Anything but a failing disk is a mistake in this program, and its stack says where.
    if (!(reason instanceof StoreFailure)) throw reason;
    const kind = this.#failing.get(peer.slot);
    this.#failing.delete(peer.slot);
    if (kind === undefined)
      throw new Violation(
        "S13",
        `peer ${peer.slot} halted by itself`,
        `its disk was sound and said: ${reason.message}`,
      );
    this.marks.add("halted by a failed flush");
    this.crash(peer, kind);
  }

  // Disks.

  /** Makes this peer's flushes `factor` times as slow; 1 is normal. */
  slowDisk(peer: SimPeer, factor: number): void {
    this.#slowDisks.set(peer.slot, factor);
  }

  /** Every flush of this peer is refused cleanly from now on, or is no longer. */
  fillDisk(peer: SimPeer, isFull: boolean): void {
    if (isFull) this.#fullDisks.add(peer.slot);
    else this.#fullDisks.delete(peer.slot);
  }

  /** How this peer's next flush will end, and its process if the flush fails. */
  armFlush(peer: SimPeer, how: FlushEnd, kind: CrashKind = "process"): void {
    this.#flushEnds.set(peer.slot, { how, kind });
  }

  /** The peer will crash while its next flush is under way, after this part of it (0 to 999 of a thousand). */
  armCrashDuringFlush(peer: SimPeer, kind: CrashKind, perMille: number): void {
    this.#flushCrashes.set(peer.slot, { kind, perMille });
  }

  /** The peer will crash before its action number `count` from now. */
  armCrashAfterActions(peer: SimPeer, count: number, kind: CrashKind): void {
    this.#actionsLeft.set(peer.slot, { left: count, kind });
  }

  #unitOf(streams: ReadonlyArray<Stream>, slot: number): Unit {
    const stream = streams[slot];
    if (stream === undefined) throw new RangeError(`there is no peer ${slot}`);
    return stream.next();
  }

  /** What is decided about this peer's process. */
  #lifeOf(slot: number): Unit {
    const life = this.#lives[slot];
    if (life === undefined) throw new RangeError(`there is no peer ${slot}`);
    return life;
  }

  #scheduleFlush(peer: SimPeer): void {
    const { process } = peer;
    this.#observer?.flushing(peer, peer.underWay);
    const { leastFlushMicros, mostFlushMicros } = this.plan.disk;
    const unit = this.#unitOf(this.#flushes, peer.slot);
    const drawn = unit.between("takes", USUAL_FLUSH_MICROS, leastFlushMicros, mostFlushMicros, 1, SLOWEST_FLUSH_MICROS);
    const latency = Math.min(drawn * (this.#slowDisks.get(peer.slot) ?? 1), SLOWEST_FLUSH_MICROS);
    this.#deadlines.flushing(peer, this.now, latency);
    const crash = this.#flushCrashes.get(peer.slot);
    if (crash !== undefined) {
      this.#flushCrashes.delete(peer.slot);
      this.scheduler.after(Math.floor((latency * crash.perMille) / 1000), () => {
        if (peer.isUp && peer.process === process) this.crash(peer, crash.kind);
      });
    }
    this.scheduler.after(latency, () => {
      const waiting = this.#waitingFor(peer);
      if (waiting === undefined) this.#endFlush(peer, process);
      else waiting.push(() => this.#endFlush(peer, process));
    });
  }

  #endFlush(peer: SimPeer, process: number): void {
    if (!peer.isUp || peer.process !== process || !peer.disk.flushing) return;
    this.events += 1;
    this.#finishFlush(peer);
    this.#settle(peer);
  }

  #finishFlush(peer: SimPeer): void {
    const armed = this.#flushEnds.get(peer.slot);
    const isFull = this.#fullDisks.has(peer.slot);
    const how = isFull ? "failed, lost" : (this.#tampering.flushEnd?.(peer) ?? armed?.how ?? "durable");
    if (isFull) this.marks.add("a full disk refused a write");
    this.#flushEnds.delete(peer.slot);
    if (how.startsWith("failed")) this.#failing.set(peer.slot, armed?.kind ?? "process");
    this.#note("flush", peer.slot, how, peer.underWay.length);
    peer.endFlush(how);
    if (how === "durable, unreported") {
      this.marks.add("crashed after a flush, before it was reported");
      this.crash(peer, "process");
    }
  }

  #durable(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    this.#noteRestore(peer, writes);
    this.ghost.flushed(peer, writes);
    this.#markRare(peer, writes);
    this.#checkers.flushed(peer, writes);
    for (const nemesis of this.nemeses) nemesis.flushed?.(this, peer, writes);
  }

  #markRare(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    let prepared = 0;
    for (const write of writes) {
      if (write.op === "remove") continue;
      if (write.table === "preparations" && write.op === "insert") prepared += 1;
      const mark = rareIn(write) ?? (this.#isReleased(peer, write) ? "applied after a pledge" : undefined);
      if (mark !== undefined) this.marks.add(mark);
      if (this.#isJoined(peer, write)) this.marks.add("a request that had joined a refused one was queued again");
    }
    if (prepared > 1) this.marks.add(prepared < 16 ? "a batch of several" : "a batch of 16 or more");
  }

  /** Whether the writer aborts what others have joined; the state is still that of before. */
  #isJoined({ state }: SimPeer, { table, op, key }: Write): boolean {
    return table === "aborts" && op === "insert" && (state?.rounds.get(key as Digest)?.joiners.length ?? 0) > 0;
  }

  /** Whether a member applies what it had pledged not to. */
  #isReleased({ slot, honest }: SimPeer, write: Write): boolean {
    if (!honest || write.table !== "certificates" || write.op !== "insert") return false;
    return ((this.ghost.proposals.get(write.key as Digest)?.pledges ?? 0) & maskOf(slot)) !== 0;
  }

  /** Whether a message holds all receipts for something that its receiver has seen a refusal of. */
  #isLate({ state }: SimPeer, message: Message): boolean {
    if (message._tag !== "Commit" || state === undefined || state.preparations.size === 0) return false;
    return message.certificates.some(({ receipts: [first] }) => {
      const preparation = first && state.preparations.get(first.statement.proposalId);
      return preparation?.refusal !== undefined;
    });
  }

  // Processes.

  /** Nothing is done to the world any more, and what was about to be is called off. */
  stopFaults(): void {
    this.healedAt = this.now;
    this.#observer?.healed();
    this.nemeses.length = 0;
    this.keysUnavailable.clear();
    this.keysUnknown.clear();
    this.#flushEnds.clear();
    this.#flushCrashes.clear();
    this.#actionsLeft.clear();
    this.#slowDisks.clear();
    this.#fullDisks.clear();
    this.#mouthpieces.clear();
    for (const peer of this.peers) this.#resume(peer);
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
    if (kind === "power, torn write") this.#tearWrite(peer);
    else if (kind === "power") peer.losePower();
    else peer.crash(kind === "process, bytes visible");
    this.#paused.delete(peer.slot);
    this.#actionsLeft.delete(peer.slot);
    this.#flushEnds.delete(peer.slot);
    this.#flushCrashes.delete(peer.slot);
    this.#again.delete(peer.slot);
    this.#lastState[peer.slot] = undefined;
    for (const hook of this.#stopped) hook(peer, this.now);
    const life = this.#unitOf(this.#processes, peer.slot);
    this.#lives[peer.slot] = life;
    if (!comesBack) return;
    const down = life.spread("comes back after", USUAL_DOWN_MICROS, DOWN_MICROS, 1_000, LONGEST_DOWN_MICROS);
    this.after(down, () => this.start(peer));
  }

  /** Power goes while a transaction is being written, and a part of it is on the disk. */
  #tearWrite(peer: SimPeer): void {
    const share = this.#lifeOf(peer.slot).between("of a torn write per mille", 500, 1, 999);
    if (!peer.isDamaged && peer.disk.tear(share)) {
      peer.isDamaged = true;
      this.marks.add("a transaction was torn");
    }
    peer.losePower();
  }

  /** Starts a peer's first process, soon. */
  startSoon(peer: SimPeer): void {
    this.after(this.#lifeOf(peer.slot).between("starts after", 0, 0, 50_000), () => this.start(peer));
  }

  /** Starts a peer's process, first making durable what the open finds. */
  start(peer: SimPeer): void {
    if (peer.isUp || peer.isLost) return;
    const ticket = ++this.#opening;
    peer.opening = ticket;
    const wait = peer.disk.isVolatile ? this.#lifeOf(peer.slot).between("opens in", 100, 100, 20_000) : 0;
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
    if (peer.toDeclare) this.#declare(peer);
    // An operator does not initialize what was initialized before, even where the peer no longer knows.
    if (peer.state?.peer === undefined && !peer.isDamaged) this.#initialize(peer);
    else this.#unsealSoon(peer);
    this.#settle(peer);
  }

  #declare(peer: SimPeer): void {
    this.#note("declare a restore", peer.slot, "");
    peer.dispatch({ _tag: "DeclareRestore", requestId: `restore-${peer.slot}-${++this.#requests}` });
  }

  /** An operator declares what a peer has found out itself: that it ran from an old disk. */
  declareRestore(peer: SimPeer): void {
    peer.toDeclare = true;
    if (!peer.isUp) return;
    this.#declare(peer);
    this.#settle(peer);
  }

  /** A peer's machine gets an older disk; an operator who knows says so before the keys are back. */
  comeBackOn(peer: SimPeer, putBack: () => void, isDeclared: boolean): void {
    this.crash(peer, "power", false);
    putBack();
    peer.honest = false;
    peer.rolledBack = true;
    peer.toDeclare = isDeclared;
    this.ghost.away |= maskOf(peer.slot);
    this.ghost.recovering &= ~maskOf(peer.slot);
    if (!isDeclared) {
      this.ghost.forgetful |= maskOf(peer.slot);
      this.ghost.wentBack(peer.slot, peer.disk.holds);
    }
    this.start(peer);
  }

  #noteRestore(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    for (const write of writes) {
      if (write.table !== "restore" || write.op === "remove") continue;
      this.marks.add(write.row.recovering ? "a restore was declared" : "a restored peer is a member again");
      if (write.row.recovering) {
        peer.toDeclare = false;
        this.#witness.restored(peer.slot);
      }
      peer.honest = !write.row.recovering && !peer.isLying;
      if (peer.honest) peer.rolledBack = false;
    }
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
    const stretches = this.healed ? SEALED_HEALED_MICROS : SEALED_MICROS;
    const unit = this.#lifeOf(peer.slot);
    const wait = unit.spread("is unsealed after", USUAL_SEALED_MICROS, stretches, 500, LONGEST_SEALED_MICROS);
    this.after(wait, () => {
      if (peer.isUp && peer.process === process) this.unseal(peer);
    });
  }

  /** An operator brings a sealed peer's keys back; where a seal is under way, as soon as it is done, as a real peer would. */
  unseal(peer: SimPeer): void {
    peer.unsealsNext = peer.isSealing;
    if (!peer.isUp || peer.signer !== undefined || peer.state?.peer === undefined) return;
    this.#note("unseal", peer.slot, "");
    peer.unseal();
    this.#settle(peer);
  }

  /** An operator gives an unsealed peer a new integrity key. */
  rotateIntegrity(peer: SimPeer): void {
    if (!peer.isUp || peer.signer === undefined || peer.isSealing) return;
    this.#note("rotate the integrity key", peer.slot, "");
    peer.rotateIntegrity(`rotate-${peer.slot}-${++this.#requests}`);
    this.#settle(peer);
  }

  seal(peer: SimPeer): void {
    if (!peer.isUp || peer.signer === undefined) return;
    this.#note("seal", peer.slot, "");
    peer.dispatch({ _tag: "Sealed" });
    peer.isSealing = true;
    peer.unsealsNext = false;
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
      const copied = this.#again.get(peer.slot);
      if (copied !== undefined) copied.hindrances |= peer.hindrances;
    }
    if (peer.unsealsNext && !peer.isSealing) this.unseal(peer);
    const again = this.#again.get(peer.slot);
    if (again === undefined || !peer.isIdle) return;
    this.#again.delete(peer.slot);
    if (again.process !== peer.process) return;
    const before = peer.transactions;
    // What came while it was sealed, say, or in the middle of its recovery, it may have passed over, and takes for new now.
    const isNew = peer.taken !== again.taken && (again.hindrances & ~peer.hindrances) !== 0;
    again.run();
    if (!isNew) for (const hook of this.#redelivered) hook(peer, again.message, peer.transactions - before);
    this.#settle(peer);
  }

  // Callers.

  /** Sends a mutation to a peer; false when nobody is there. */
  request(peer: SimPeer, requestId: string, said: Command | Replacement | Invite | Finish, token: string): boolean {
    if (!peer.isUp) {
      this.#observer?.acted("unreachable", peer.slot, requestId, false);
      return false;
    }
    this.calls += 1;
    this.#asked.set(requestId, this.now);
    this.#witness.asked(requestId, this.now, said);
    this.#note("request", peer.slot, "", Number(requestId.slice(1)));
    const { process } = peer;
    const { call } = said;
    this.#whenAwake(peer, () => {
      if (!peer.isUp || peer.process !== process) return;
      const actor = this.#judge(peer, token);
      this.#observer?.asked(peer.slot, requestId, call, actor);
      const event: Asking = { _tag: "Command", requestId, call, token, actor };
      peer.dispatch(this.#tampering.asked?.(peer, event) ?? event);
      if (this.#asked.has(requestId)) this.#deadlines.asked(requestId, peer, this.now);
      this.#settle(peer);
    });
    return true;
  }

  /** Its caller has waited for longer than the service promises, and gives up. */
  gaveUp(requestId: string): void {
    const overdue = this.#deadlines.overdue(requestId);
    if (overdue !== undefined)
      for (const hook of this.#unanswered) hook(overdue.peer, requestId, overdue.askedAt, this.now);
  }

  /** Nobody waits for the answer to this request any more. */
  forget(requestId: string): void {
    this.#deadlines.ended(requestId);
    this.#asked.delete(requestId);
    this.#witness.forgot(requestId);
    this.#observer?.forgot(requestId);
  }

  /** Asks a peer whether it would take a mutation now. */
  askReadiness(peer: SimPeer, requestId: string): boolean {
    if (!peer.isUp) return false;
    this.calls += 1;
    this.#observer?.acted("readiness", peer.slot, requestId, true);
    const { process } = peer;
    this.#whenAwake(peer, () => {
      if (peer.process === process) peer.dispatch({ _tag: "CheckReadiness", requestId });
      this.#settle(peer);
    });
    return true;
  }

  /** Reads an approver from a peer's committed rows, as a GET does; undefined where nobody answers or it is not there. */
  read(peer: SimPeer, ref: string): Rows["approvers"] | undefined {
    if (!peer.isUp || peer.isDamaged || peer.state?.recovery !== undefined) return undefined;
    this.calls += 1;
    const before = peer.transactions;
    const stored = peer.store.get("approvers", ref);
    const found = this.#tampering.read === undefined ? stored : this.#tampering.read(stored);
    this.#observer?.acted("read", peer.slot, ref, found !== undefined);
    if (!peer.isIdle) this.marks.add("read while a flush was under way");
    for (const hook of this.#read) hook(peer, { ref, found, transactions: peer.transactions - before });
    const shown = this.#tampering.shown === undefined ? found : this.#tampering.shown(found);
    if (peer.honest) this.#witness.read(peer.slot, this.now, ref, shown);
    return shown;
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
