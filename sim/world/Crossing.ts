/**
 * A message on its way from one process to another over the simulated network, and the answer to it: what a request and
 * its connection are between real peers.
 */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Incoming } from "../../runtime/transport/Intake.ts";
import type { Exchange, ExchangeEnd } from "../../runtime/transport/Link.ts";
import type { Letter } from "../network/Letter.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Carried } from "./Streams.ts";

/** The end of a crossing at which it began. */
export interface Asker {
  readonly peer: SimPeer;
  /** Whether its process still runs. */
  readonly isOpen: boolean;
  /** The process of each other peer that has taken a message last, by peer id. */
  readonly known: Map<PeerId, number>;
  readonly receiveAnswer: (answer: Letter, isTwice: boolean, crossing: Crossing, member: PeerId | undefined) => void;
}

interface Ports {
  readonly hasSessions: boolean;
  /** Microseconds. */
  readonly now: () => number;
  /** Whether nothing gets from one peer to another. */
  readonly isCut: (from: number, to: number) => boolean;
  /** Runs something once nothing more is hoped for from a connection. */
  readonly afterSilence: (run: () => void) => void;
  readonly answer: (crossing: Crossing, answer: Letter, isFirst: boolean) => void;
  readonly over: (crossing: Crossing) => void;
  /** Its link knows how it ended. */
  readonly told: (crossing: Crossing, how: ExchangeEnd) => void;
  /** An exchange was kept open, and ended with nothing, or with the process that kept it. */
  readonly heldInVain: (isProcessOver: boolean) => void;
}

export class Crossing implements Incoming<Letter> {
  readonly asker: Asker;
  readonly exchange: Exchange<Letter>;
  readonly to: SimPeer;
  /** As its stream carries it; undefined without a session. */
  readonly carried: Carried | undefined;
  /** Whom its session has shown to have sent it. */
  member: PeerId | undefined;
  /** Addresses, which bounds are for, are not simulated. */
  readonly scrutiny = undefined;
  readonly #ports: Ports;
  /** Which process of the receiver has it, and since when. */
  #process: number | undefined;
  #arrivedAt = 0;
  #isAnswered = false;
  #isOver = false;

  constructor(ports: Ports, asker: Asker, exchange: Exchange<Letter>, to: SimPeer, carried?: Carried) {
    this.#ports = ports;
    this.asker = asker;
    this.exchange = exchange;
    this.to = to;
    this.carried = carried;
  }

  /** It has reached the process that runs. */
  arrived(): void {
    this.#process = this.to.process;
    this.#arrivedAt = this.#ports.now();
  }

  /** Nothing of it gets through, and nobody says so. */
  lost(): void {
    this.#ports.afterSilence(() => this.finish("unreachable"));
  }

  /** The link that it went by is told how it ended; only the first time counts. */
  finish(how: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ports.over(this);
    if (how === "taken" || how === "refused") this.carried?.stream.ends(this.carried.exchange, how === "taken");
    this.exchange.end(how);
    this.#ports.told(this, how);
  }

  end(answer: Letter | undefined): boolean {
    const { asker, to } = this;
    if (!asker.isOpen) return false;
    const isHeld = this.#ports.now() > this.#arrivedAt;
    if (!to.isUp || to.process !== this.#process) {
      if (isHeld) this.#ports.heldInVain(true);
      this.finish("unreachable");
      return false;
    }
    const isFirst = !this.#isAnswered;
    this.#isAnswered = true;
    if (answer !== undefined) this.#ports.answer(this, answer, isFirst);
    else {
      if (isHeld) this.#ports.heldInVain(false);
      if (this.#ports.isCut(to.slot, asker.peer.slot)) this.lost();
      else this.finish("taken");
    }
    return true;
  }

  refuse(): void {
    this.finish("refused");
  }

  /** Where a run has no sessions, its connections are as good as those that have. */
  get mayAnswer(): boolean {
    return this.member !== undefined || !this.#ports.hasSessions;
  }

  proven(): void {
    // A simulated connection is as good as any other.
  }
}
