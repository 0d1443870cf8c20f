/** The gateways of all processes that run, and the network between them. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Incoming } from "../../runtime/transport/Intake.ts";
import type { DropReason, Exchange, LinkLimits } from "../../runtime/transport/Link.ts";
import type { NarrowPlan } from "../base/Plan.ts";
import type { Prng } from "../base/Prng.ts";
import type { LinkAct } from "../checkers/Checker.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { Letter } from "../network/Letter.ts";
import type { Network, Way } from "../network/Network.ts";
import { Crossing } from "./Crossing.ts";
import { Gateway, type GatewayPorts, limitsOf } from "./Gateway.ts";
import type { Ground } from "./Ground.ts";
import type { Origin } from "./Observer.ts";
import { processTime } from "./ProcessTime.ts";
import type { SimPeer } from "./SimPeer.ts";
import { type Carried, Streams } from "./Streams.ts";
import type { Tampering } from "./Tampering.ts";

/** As long as a real link waits. */
const SILENCE_MILLIS = 5_000;

/** A copy of a message, or what a fault made of one: nobody waits for its answer, and it goes to nobody. */
const nobody = (mayAnswer: boolean, end: boolean): Incoming<Letter> => ({
  member: undefined,
  mayAnswer,
  scrutiny: undefined,
  end: () => end,
  refuse: () => undefined,
});

interface Ports extends Pick<GatewayPorts, "open" | "hear" | "unread"> {
  /** Whether peers open sessions on their streams. */
  readonly hasSessions: boolean;
  readonly cryptography: Cryptography;
  readonly entropy: Prng;
  readonly network: Network;
  readonly checkers: Checkers;
  readonly narrow: NarrowPlan | undefined;
  readonly tampering: Tampering;
  /** By slot. */
  readonly peer: (slot: number) => SimPeer;
}

export class Gateways {
  readonly #ground: Ground;
  readonly #ports: Ports;
  /** By slot; only of processes that run. */
  readonly #gateways: Array<Gateway | undefined> = [];
  readonly #linkedHooks;
  readonly #droppedHooks;
  readonly #answering;
  readonly #ended;
  readonly #limits: LinkLimits;
  /** Exchanges of which something was lost, and nobody knows it yet. */
  #unknown = 0;
  /** What the link says became of the message whose exchange is ending. */
  #gaveUp: DropReason | undefined;
  readonly #crossing: ConstructorParameters<typeof Crossing>[0];
  readonly #streams: Streams | undefined;
  readonly #nobody: Incoming<Letter>;
  /** The network brought it a second time, over a connection that is no more. */
  readonly #gone: Incoming<Letter>;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    const { hasSessions } = ports;
    this.#streams = hasSessions ? new Streams(ground, ports) : undefined;
    this.#nobody = nobody(!hasSessions, true);
    this.#gone = nobody(!hasSessions, false);
    this.#droppedHooks = ports.checkers.hooks("droppedUnsent");
    this.#linkedHooks = ports.checkers.hooks("linked");
    this.#answering = ports.checkers.hooks("answering");
    this.#ended = ports.checkers.hooks("ended");
    this.#limits = limitsOf(ports.narrow).link;
    const silence = (ports.narrow?.silenceMillis ?? SILENCE_MILLIS) * 1_000;
    const { scheduler, chronicle } = ground;
    this.#crossing = {
      hasSessions,
      now: () => scheduler.now,
      isCut: (from, to) => ports.network.link(from, to).cut,
      afterSilence: (run) => {
        this.#unknown += 1;
        scheduler.after(silence, () => {
          this.#unknown -= 1;
          run();
        });
      },
      answer: (crossing, answer, isFirst) => {
        const { to, asker } = crossing;
        for (const hook of this.#answering) hook(to, asker.peer.peerId, answer, isFirst);
        this.#answer(crossing, answer);
      },
      over: ({ asker, exchange: { message, isAgain } }) => {
        this.#gaveUp = undefined;
        if (asker.isOpen) this.#linked(asker.peer, message.to, "over", message, isAgain);
      },
      told: ({ asker, exchange }, how) => {
        const { peer, isOpen } = asker;
        if (!isOpen || (how === "stale" && !exchange.isAgain)) return;
        const { to } = exchange.message;
        const isReachable = this.#gateways[peer.slot]?.links.isReachable(to);
        for (const hook of this.#ended) hook(peer, to, how, { isReachable, dropped: this.#gaveUp });
      },
      heldInVain: (isProcessOver) =>
        chronicle.marks.add(
          isProcessOver ? "an answer was kept open when its process ended" : "an answer was kept open in vain",
        ),
    };
  }

  /** Whether every link got its last message through, and nothing that was lost is waited for. */
  get areOpen(): boolean {
    const links = this.#gateways.flatMap((gateway) => [...(gateway?.links.all ?? [])]);
    return this.#unknown === 0 && links.every(({ isReachable }) => isReachable !== false);
  }

  /** A process of a peer has come up. */
  started(peer: SimPeer): void {
    const { narrow, tampering, open, hear, unread } = this.#ports;
    this.#gateways[peer.slot] = new Gateway(peer, {
      time: processTime(this.#ground, peer),
      narrow,
      tampering,
      open,
      hear,
      unread,
      transmit: (gateway, to, exchange) => this.#transmit(gateway, to, exchange),
      sent: (each, letter) => this.#linked(each, letter.to, "sent", letter, false),
      dropped: (each, reason, letter, most) => this.#dropped(each, reason, letter, most),
    });
  }

  /** It has ended: whoever waits for an answer of it learns so, and what waited in its links is gone. */
  ended(peer: SimPeer): void {
    const gateway = this.#gateways[peer.slot];
    this.#gateways[peer.slot] = undefined;
    gateway?.links.close();
  }

  /** Sends a letter of a peer the way its process sends; there is none where no process runs. */
  send(peer: SimPeer, letter: Letter): void {
    this.#gateways[peer.slot]?.send(letter);
  }

  /** Puts a letter on the wire that no process has just sent; it arrives after `delay` microseconds. */
  inject(slot: number, letter: Letter, delay: number, origin: Origin | undefined): void {
    this.#carry(slot, letter, { takes: delay, isTwice: false, incoming: this.#nobody, origin });
  }

  #linked(peer: SimPeer, to: PeerId, what: LinkAct, letter: Letter, isAgain: boolean): void {
    for (const hook of this.#linkedHooks) hook(peer, to, what, letter, isAgain, this.#limits);
  }

  #dropped(peer: SimPeer, reason: DropReason, letter: Letter, most: number): void {
    const { marks } = this.#ground.chronicle;
    if (reason === "queue full") {
      const isRound = letter.lane === "round";
      marks.add(isRound ? "a full link dropped its oldest message" : "a full link dropped its newest bulk");
      for (const hook of this.#droppedHooks) hook(peer, letter, most);
      return;
    }
    this.#gaveUp = reason;
    if (reason === "refused") marks.add("a message was turned away");
    else if (reason === "no room") marks.add("an answer found no room");
  }

  #transmit(gateway: Gateway, to: PeerId, exchange: Exchange<Letter>): void {
    const { network, peer } = this.#ports;
    const { slot, addresses } = gateway.peer;
    const at = addresses.get(to);
    if (at === undefined) throw new RangeError(`peer ${slot} knows no peer ${to}`);
    this.#linked(gateway.peer, to, "departs", exchange.message, exchange.isAgain);
    const carried = this.#streams?.departing(gateway, peer(at), exchange.message);
    const crossing = new Crossing(this.#crossing, gateway, exchange, peer(at), carried);
    const way = network.route(slot, at);
    if (way === undefined) return this.#lost(slot, at, crossing);
    const { isTwice } = way;
    const takes = this.#delayed(carried, way.takes);
    this.#carry(at, exchange.message, { takes, isTwice, incoming: crossing, origin: undefined });
    this.#copy(at, exchange.message, way, carried);
  }

  /** Nothing of a message, or of the answer to it, gets from one peer to the other. */
  #lost(from: number, to: number, crossing: Crossing): void {
    const { marks } = this.#ground.chronicle;
    const isOneWay = this.#ports.network.isCutOneWay(from, to);
    marks.add(isOneWay ? "a member that was heard could not hear" : "a message was lost");
    // A stream without a part of it is over.
    if (crossing.carried !== undefined) crossing.carried.stream.isBroken = true;
    crossing.lost();
  }

  #copy(slot: number, letter: Letter, { copyTakes }: Way, carried: Carried | undefined): void {
    if (copyTakes === undefined) return;
    this.#ground.chronicle.marks.add("a message came a second time");
    this.#carry(slot, letter, { takes: copyTakes, isTwice: false, incoming: this.#gone, origin: undefined });
    if (carried !== undefined) this.#ground.scheduler.after(copyTakes, () => this.#streams?.copied(carried));
  }

  /** On a stream nothing overtakes what was sent before it. */
  #delayed(carried: Carried | undefined, takes: number): number {
    return carried === undefined ? takes : carried.stream.delay(carried.at, this.#ground.scheduler.now, takes);
  }

  #carry(slot: number, letter: Letter, { takes, isTwice, incoming, origin }: Shipment): void {
    const { scheduler, pauses, observer } = this.#ground;
    const copy = observer?.transmitted(slot, letter.packet, takes, origin);
    const peer = this.#ports.peer(slot);
    scheduler.after(takes, () => {
      const waiting = pauses.waitingFor(peer);
      if (waiting === undefined) return this.#arrive(peer, letter, isTwice, incoming, copy);
      // Where the process ends before it goes on, nobody says so.
      if (incoming instanceof Crossing) incoming.lost();
      waiting.push(() => this.#arrive(peer, letter, isTwice, incoming, copy));
    });
  }

  #arrive(peer: SimPeer, letter: Letter, isTwice: boolean, incoming: Incoming<Letter>, copy: number | undefined): void {
    const { chronicle, observer } = this.#ground;
    const gateway = this.#gateways[peer.slot];
    if (gateway === undefined || peer.state === undefined) {
      observer?.missed(copy);
      if (incoming instanceof Crossing) incoming.finish("unreachable");
      return;
    }
    if (incoming instanceof Crossing) {
      if (this.#isStale(peer, incoming)) return observer?.missed(copy);
      const { carried } = incoming;
      if (carried !== undefined) incoming.member = this.#streams?.arrived(carried);
      if (carried !== undefined && incoming.member === undefined) {
        observer?.missed(copy);
        return incoming.finish("unreachable");
      }
    }
    chronicle.events += 1;
    observer?.arriving(copy);
    if (gateway.isBusy) return incoming.refuse("no room", "");
    gateway.receive(letter, isTwice, incoming);
  }

  /** The first message on a link after its receiver's restart goes over a connection of the process before. */
  #isStale(peer: SimPeer, crossing: Crossing): boolean {
    const { asker, exchange } = crossing;
    const { known } = asker;
    const before = known.get(exchange.message.to);
    known.set(exchange.message.to, peer.process);
    if (before === undefined || before === peer.process) {
      crossing.arrived();
      return false;
    }
    this.#ground.chronicle.marks.add("a message went again on a new connection");
    crossing.finish("stale");
    return true;
  }

  /** An answer goes back to the process that asked; if that is over, nobody takes it. */
  #answer(crossing: Crossing, letter: Letter): void {
    const { scheduler, pauses, observer } = this.#ground;
    const { asker, to } = crossing;
    const { peer } = asker;
    const carried = crossing.carried && this.#streams?.answering(crossing.carried, letter);
    const way = this.#ports.network.route(to.slot, peer.slot);
    if (way === undefined) return this.#lost(to.slot, peer.slot, crossing);
    const takes = this.#delayed(carried, way.takes);
    const copy = observer?.transmitted(peer.slot, letter.packet, takes, undefined);
    const arrive = (): void => this.#takeAnswer(crossing, letter, way.isTwice, copy, carried);
    scheduler.after(takes, () => {
      const waiting = pauses.waitingFor(peer);
      if (waiting === undefined) arrive();
      else waiting.push(arrive);
    });
    this.#copy(peer.slot, letter, way, carried);
  }

  #takeAnswer(
    crossing: Crossing,
    letter: Letter,
    isTwice: boolean,
    copy: number | undefined,
    carried: Carried | undefined,
  ): void {
    const { chronicle, observer } = this.#ground;
    const { asker } = crossing;
    if (!asker.isOpen || asker.peer.state === undefined) {
      chronicle.marks.add("an answer came back to a process that had ended");
      return observer?.missed(copy);
    }
    const member = carried && this.#streams?.arrived(carried);
    if (carried !== undefined && member === undefined) {
      observer?.missed(copy);
      return crossing.finish("unreachable");
    }
    chronicle.events += 1;
    observer?.arriving(copy);
    asker.receiveAnswer(letter, isTwice, crossing, member);
  }
}

interface Shipment {
  /** Microseconds. */
  readonly takes: number;
  readonly isTwice: boolean;
  readonly incoming: Incoming<Letter>;
  readonly origin: Origin | undefined;
}
