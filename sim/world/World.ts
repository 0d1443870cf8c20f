/** The simulated world, put together: time, a network, peers that run the real driver, checkers told of everything. */
import type { Answer } from "../../core/Action.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Message } from "../../core/Message.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import type { Census } from "../base/Census.ts";
import { Checkers } from "../checkers/Checkers.ts";
import type { Choices, Stream } from "../base/Choices.ts";
import { Commands } from "../requests/Commands.ts";
import { type Backend, type Cryptography, cryptographyOf, type PeerKeys } from "../crypto/Cryptography.ts";
import { onMachines } from "../crypto/SimMachine.ts";
import { Deadlines } from "./Deadlines.ts";
import { Ghost } from "../checkers/Ghost.ts";
import { production } from "../models/Models.ts";
import type { Product } from "../models/Product.ts";
import { Network } from "../network/Network.ts";
import type { Observer } from "./Observer.ts";
import { Oracle } from "../oracle/Oracle.ts";
import type { Plan } from "../base/Plan.ts";
import { entropyOf, type Prng } from "../base/Prng.ts";
import { Scheduler } from "./Scheduler.ts";
import { perfectMillis } from "./SimClock.ts";
import { SimPeer } from "./SimPeer.ts";
import { simSettings } from "./SimSettings.ts";
import type { Tampering } from "./Tampering.ts";
import type { Trace } from "./Trace.ts";
import { Witness } from "../oracle/Witness.ts";
import { Chronicle } from "./Chronicle.ts";
import { Flushes } from "./Flushes.ts";
import type { Ground } from "./Ground.ts";
import { Desks } from "./Desks.ts";
import { Handovers } from "./Handovers.ts";
import { Mail } from "./Mail.ts";
import { Lists } from "./Lists.ts";
import { Lookups } from "./Lookups.ts";
import { Operators } from "./Operators.ts";
import { Parties } from "./Parties.ts";
import { Pauses } from "./Pauses.ts";
import { Processes } from "./Processes.ts";
import { RequestIds } from "./RequestIds.ts";
import { newestAt, Promoters } from "./Promoters.ts";
import { Restores } from "./Restores.ts";
import { Service } from "./Service.ts";
import { countRare } from "./Situations.ts";
import { Timers } from "./Timers.ts";
import { TokenKeys } from "./TokenKeys.ts";
import { WrongClocks } from "./WrongClocks.ts";

/** A full sweep happens after this many events. */
const SWEEP_EVENTS = 2_000;
/** How long it takes to flush what an operator did. */
const JOURNAL_MICROS = 2_000;

/** Watches for the moment a schedule waits for. */
export interface Nemesis {
  /** Before any peer starts. */
  readonly started?: (world: World) => void;
  readonly sent?: (world: World, peer: SimPeer, to: PeerId, message: Message) => void;
  readonly flushed?: (world: World, peer: SimPeer, writes: ReadonlyArray<Write>) => void;
}

/** What a world may be given beside its plan. */
export interface WorldPorts {
  readonly tampering?: Tampering | undefined;
  readonly observer?: Observer | undefined;
  /** The backend of what is computed for real; any one gives the same run. */
  readonly backend?: Backend | undefined;
  /** What its peers run and callers ask for; by default this version of the service. */
  readonly product?: Product | undefined;
  /** Which version of that a peer's next process runs; by default the newest. */
  readonly runs?: ((peer: SimPeer) => Composition) | undefined;
}

export class World {
  readonly plan: Plan;
  readonly product: Product;
  readonly choices: Choices;
  /** Entropy of the world itself. */
  readonly entropy: Prng;
  readonly scheduler = new Scheduler();
  readonly chronicle: Chronicle;
  readonly cryptography: Cryptography;
  readonly commands: Commands;
  readonly ghost: Ghost;
  readonly network: Network;
  readonly pauses: Pauses;
  readonly tokenKeys: TokenKeys;
  readonly clocks: WrongClocks;
  readonly mail: Mail;
  readonly flushes: Flushes;
  readonly processes: Processes;
  readonly operators: Operators;
  readonly restores: Restores;
  readonly service: Service;
  readonly lists: Lists;
  readonly lookups: Lookups;
  readonly parties: Parties;
  readonly promoters: Promoters;
  readonly peers: ReadonlyArray<SimPeer>;
  /** Keys of a peer of another cluster. */
  readonly strangerKeys: PeerKeys;
  readonly nemeses: Array<Nemesis> = [];
  readonly #timers: Timers;
  readonly #desks: Desks;
  readonly #handovers: Handovers;
  readonly #tampering: Tampering;
  readonly #observer: Observer | undefined;
  readonly #runs: (peer: SimPeer) => Composition;
  readonly #checkers: Checkers;
  readonly #booted;
  readonly #stopped;
  readonly #signed;
  readonly #sent;
  readonly #stepped;
  readonly #swept;
  /** The state of each peer that checkers have seen last, by slot. */
  readonly #lastState: Array<PeerState | undefined> = [];
  #nextSweep = SWEEP_EVENTS;

  constructor(
    plan: Plan,
    choices: Choices,
    trace: Trace,
    { tampering = {}, observer, backend, product = production, runs = () => product.composition }: WorldPorts = {},
  ) {
    this.plan = plan;
    const { composition } = product;
    this.product = product;
    this.choices = choices;
    this.#tampering = tampering;
    this.#observer = observer;
    this.#runs = runs;
    this.entropy = entropyOf(plan.seed, 0);
    const honest = cryptographyOf(plan.crypto, this.entropy, composition, backend);
    this.cryptography = onMachines(tampering.cryptography?.(honest) ?? honest, choices, () => !this.healed);
    this.commands = new Commands(this.cryptography, plan.bodyBytes);
    this.strangerKeys = this.cryptography.newKeys();
    this.network = new Network(plan.peers, plan.network, plan.redelivery, choices);
    this.ghost = new Ghost(honest.crypto, plan.peers, product, plan.capacities);
    const oracle = new Oracle(honest.crypto, this.commands, plan.peers, plan.sessionMillis, product);
    const checkers = new Checkers(this.ghost, oracle, honest.secrets);
    this.#checkers = checkers;
    this.#booted = checkers.hooks("booted");
    this.#stopped = checkers.hooks("stopped");
    this.#signed = checkers.hooks("signed");
    this.#sent = checkers.hooks("sent");
    this.#stepped = checkers.hooks("stepped");
    this.#swept = checkers.hooks("swept");
    const { scheduler, ghost } = this;
    const deadlines = new Deadlines();
    const witness = new Witness(product);
    const requestIds = new RequestIds();
    const chronicle = new Chronicle({ scheduler, trace, checkers, observer });
    const pauses = new Pauses(scheduler, chronicle, deadlines);
    const ground: Ground = { scheduler, chronicle, pauses, observer, settle: (peer) => this.#settle(peer) };
    const tokenKeys = new TokenKeys({ commands: this.commands, world: this, tampering, scheduler: this.scheduler });
    this.clocks = new WrongClocks({ scheduler, peers: () => this.peers, realMillis: () => this.realMillis });
    const handovers = new Handovers(ground, { composition, checkers, tokenKeys, world: this, tampering });
    const processes = new Processes(ground, {
      streams: this.#streams("process"),
      started: (peer) => this.#started(peer),
      ended: (peer) => this.#ended(peer),
    });
    this.chronicle = chronicle;
    this.pauses = pauses;
    this.tokenKeys = tokenKeys;
    this.#handovers = handovers;
    this.processes = processes;
    this.flushes = new Flushes(ground, {
      deadlines,
      tampering,
      plan: plan.disk,
      streams: this.#streams("flush"),
      crash: (peer, kind) => processes.crash(peer, kind),
    });
    this.#timers = new Timers(ground, tampering);
    this.mail = new Mail(ground, { world: this, handovers, checkers, tampering });
    this.#desks = new Desks(ground, { cryptography: this.cryptography, checkers, tampering });
    this.operators = new Operators(ground, {
      desks: this.#desks,
      checkers,
      strangers: this.#streams("operator"),
      processes,
      requestIds,
      tampering,
      foundedBy: (slot) => (plan.promotion?.source === slot ? 1 : plan.peers),
    });
    this.restores = new Restores(ground, { processes, operators: this.operators, ghost, witness });
    this.service = new Service(ground, {
      deadlines,
      desks: this.#desks,
      witness,
      ghost,
      checkers,
      tokenKeys,
      requestIds,
      world: this,
      tampering,
      writer: () => this.peer(this.writerSlot),
    });
    this.parties = new Parties(this);
    this.lookups = new Lookups(ground, { checkers, cryptography: this.cryptography, tampering });
    this.lists = new Lists(ground, { checkers, cryptography: this.cryptography, tampering });
    this.peers = Array.from({ length: plan.peers }, (_, index) => this.#newPeer(index + 1));
    this.promoters = new Promoters(this);
    observer?.began(this);
  }

  /** A stream for each peer, by slot. */
  #streams(component: string): ReadonlyArray<Stream> {
    return Array.from({ length: this.plan.peers + 1 }, (_, slot) => this.choices.stream(`${component} ${slot}`));
  }

  #newPeer(slot: number): SimPeer {
    const { plan, scheduler, cryptography, processes, flushes } = this;
    const tampering = this.#tampering;
    const entropy = entropyOf(plan.seed, slot);
    const peer = new SimPeer(slot, simSettings(slot, plan), {
      runs: this.#runs,
      cryptography,
      entropy: () => entropy.entropy(),
      realMillis: () => this.realMillis,
      ignoresDamage: tampering.ignoresDamage === true,
      signsUnverified: tampering.signsUnverified === true,
      forgetsStart: tampering.forgetsStart === true,
      judgesTokens: (each) => this.tokenKeys.isJudge(each),
      clockBugs: tampering,
      clockMoves: plan.clockMovesMillis,
      found: tampering.found,
      elapsedMillis: () => Math.floor(scheduler.now / 1000),
      scheduleFlush: (each) => flushes.begin(each),
      written: (each, writes) => {
        this.tokenKeys.assertJudges(each, writes);
        this.#handovers.attendance.assertAll(each, writes);
        return tampering.written?.(this, each, writes) ?? writes;
      },
      durable: (each, writes) => this.#durable(each, writes),
      signing: (each, tag) => {
        for (const hook of this.#signed) hook(each, tag);
      },
      send: (each, to, message) => {
        if (processes.mayAct(each)) this.#send(each, to, message);
      },
      reply: (each, requestId, answer) => {
        if (processes.mayAct(each)) this.#reply(each, requestId, answer);
      },
      audit: (each, acts, done) => this.operators.audit(each, acts, done),
      afterJournal: (each, run) =>
        scheduler.after(JOURNAL_MICROS, () => {
          run();
          this.#settle(each);
        }),
      hastyJournal: tampering.hastyJournal === true,
      setTimer: (each, timer, afterMillis) => {
        if (processes.mayAct(each)) this.#timers.set(each, timer, afterMillis);
      },
      halted: (each, reason) => processes.halted(each, reason, flushes.takeFailure(each)),
    });
    const unit = this.choices.stream(`clock ${slot}`).next();
    peer.clock.draw(unit, plan.clockOffsetMillis, plan.clockDriftPerMillion);
    return peer;
  }

  /** Microseconds of virtual time. */
  get now(): number {
    return this.scheduler.now;
  }

  /** Milliseconds since the epoch by a perfect clock. */
  get realMillis(): number {
    return perfectMillis(this.scheduler.now);
  }

  /** Delivered messages, fired timers, finished flushes, crashes and starts. */
  get events(): number {
    return this.chronicle.events;
  }

  /** True from the moment nothing more is done to the world. */
  get healed(): boolean {
    return this.chronicle.isHealed;
  }

  /** Faults injected, by name. */
  get faults(): Census {
    return this.chronicle.faults;
  }

  /** Situations reached, by name. */
  get marks(): Census {
    return this.chronicle.marks;
  }

  /** The writer of the newest epoch, as peers that are up see it; before any does, the first peer. */
  get writerSlot(): number {
    return newestAt(this.peers)?.writer ?? this.plan.promotion?.source ?? 1;
  }

  /** The peer in a slot, from 1. */
  peer(slot: number): SimPeer {
    const peer = this.peers[slot - 1];
    if (peer === undefined) throw new RangeError(`there is no peer ${slot}`);
    return peer;
  }

  /** Runs something once, so many microseconds from now. */
  after(micros: number, run: () => void): void {
    this.scheduler.after(micros, run);
  }

  #send(peer: SimPeer, to: PeerId, meant: Message): void {
    const { state } = peer;
    const message = this.#tampering.said === undefined ? meant : this.#tampering.said(peer, meant);
    if (state === undefined || message === undefined) return;
    for (const hook of this.#sent) hook(peer, message, to, this.scheduler.now);
    if (message._tag === "Outcome") this.service.tells(message);
    this.mail.send(peer, state, to, message);
    for (const nemesis of this.nemeses) nemesis.sent?.(this, peer, to, message);
  }

  #reply(peer: SimPeer, requestId: string, answer: Answer): void {
    this.#desks.answer(peer, requestId, this.service.replied(peer, requestId, answer));
  }

  #durable(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    this.restores.flushed(peer, writes);
    this.ghost.flushed(peer, writes);
    countRare(this.marks, this.ghost, peer, writes);
    this.#checkers.flushed(peer, writes);
    for (const nemesis of this.nemeses) nemesis.flushed?.(this, peer, writes);
  }

  #started(peer: SimPeer): void {
    this.mail.started(peer);
    for (const hook of this.#booted) hook(peer);
    this.restores.started(peer);
    this.operators.welcome(peer);
    this.#settle(peer);
  }

  #ended(peer: SimPeer): void {
    this.pauses.forget(peer);
    this.flushes.forget(peer);
    this.#handovers.forget(peer);
    this.mail.ended(peer);
    this.#lastState[peer.slot] = undefined;
    for (const hook of this.#stopped) hook(peer, this.now);
  }

  /** After anything happened to a peer: let checkers see a new state, finish a seal, hand over a message again. */
  #settle(peer: SimPeer): void {
    const { state } = peer;
    if (state === undefined) return;
    this.operators.finishSeal(peer, state);
    this.operators.finishUnseal(peer, state);
    if (state !== this.#lastState[peer.slot]) {
      this.#tampering.stepped?.(this, peer, state);
      this.#lastState[peer.slot] = state;
      this.#observer?.stepped(peer);
      for (const hook of this.#stepped) hook(peer);
      this.#handovers.stepped(peer);
    }
    this.operators.unsealNext(peer);
    if (this.#handovers.repeat(peer)) this.#settle(peer);
  }

  /** Nothing is done to the world any more, and what was about to be is called off. */
  stopFaults(): void {
    this.chronicle.healed();
    this.nemeses.length = 0;
    this.tokenKeys.heal();
    this.flushes.heal();
    this.processes.heal();
    this.parties.heal();
    this.mail.heal();
    for (const peer of this.peers) this.pauses.resume(peer);
    // A peer that goes on may still say something altered; after that nothing is.
    this.mail.alterNext(undefined);
  }

  /** Runs until `until` microseconds, or until `steps` events and calls, whichever is first; sweeps now and then. */
  run(until: number, steps = Number.POSITIVE_INFINITY): void {
    const { scheduler, chronicle } = this;
    while (chronicle.events + chronicle.calls < steps && scheduler.runNext(until)) {
      this.#observer?.ticked();
      if (chronicle.events >= this.#nextSweep) {
        this.#nextSweep = chronicle.events + SWEEP_EVENTS;
        this.sweep();
      }
    }
    if (chronicle.events + chronicle.calls < steps) scheduler.advanceTo(until);
  }

  /** Lets every checker look at everything. */
  sweep(): void {
    for (const hook of this.#swept) hook(this.peers);
  }
}
