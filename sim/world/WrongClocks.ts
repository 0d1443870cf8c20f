/** Which clocks are set wrong, by how much, and since when they are right again. */
import type { MemberFault } from "../../core/base/Rejection.ts";
import type { SimPeer } from "./SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import type { Scheduler } from "./Scheduler.ts";

/** The most by which a right clock differs from a perfect one. */
const RIGHT_MILLIS = 2_500;
/** More than any drift: the clock was set. */
const WRONG_MILLIS = 10_000;
/** As long as a caller waits for the answer to a request from before. */
const REMEMBERED_MICROS = 15_000_000;

/** So long a process doubts its clock after a jump, and no longer (protocol.md 2). */
const DOUBT_MICROS = 600_000_000;

/** How a peer speaks of itself that doubts its own clock. */
const WAS_SET = "its clock was set";

interface Ports {
  readonly scheduler: Scheduler;
  readonly peers: () => ReadonlyArray<SimPeer>;
  /** Milliseconds since the epoch by a perfect clock. */
  readonly realMillis: () => number;
}

export class WrongClocks {
  readonly #ports: Ports;
  /** By slot: when a wrong clock was last changed, in microseconds. */
  readonly #wrongUntil: Array<number> = [];
  /** When a clock that was neither right nor wrong was last changed, in microseconds. */
  #unclearUntil: number | undefined;
  /** By slot: when a right clock was set wrong, and which process saw that. */
  readonly #wrongSince: Array<{ readonly at: number; readonly process: number }> = [];
  /** By slot: when a wrong clock that its process took for right was last changed. */
  readonly #misledUntil: Array<number> = [];
  /** By slot: when a clock was last set at all. */
  readonly #setAt: Array<number> = [];

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** A clock jumps forward by so many milliseconds now. */
  set(peer: SimPeer, byMillis: number): void {
    this.#remember(peer);
    const wasOff = this.#isOff(peer);
    peer.clock.offsetMillis += byMillis;
    if (wasOff || !this.#isOff(peer)) return;
    this.#wrongSince[peer.slot] = { at: this.#ports.scheduler.now, process: peer.process };
  }

  /** A clock runs faster by so many parts per million from now on, and jumps forward by so many milliseconds. */
  run(peer: SimPeer, perMillion: number, byMillis: number): void {
    this.set(peer, byMillis);
    peer.clock.driftPerMillion += perMillion;
  }

  /** A clock shows what a perfect one shows from now on. */
  setRight(peer: SimPeer): void {
    this.#remember(peer);
    peer.clock.setRight();
  }

  /** Whether any clock is wrong, or was a moment ago. */
  get isAny(): boolean {
    return this.#ports.peers().some((peer) => this.#wasOff(peer));
  }

  /** Whether any peer may refuse a good token by its clock, or might have a moment ago. */
  get mayMislead(): boolean {
    return this.#ports.peers().some((peer) => this.#isMisled(peer) || this.#isYoung(this.#misledUntil[peer.slot]));
  }

  /**
   * S36: a peer named for its clock has a wrong one. Asked only where there is at most one such peer and the others are
   * right; and not of an answer that itself says that it cannot tell which of two it is. A peer that says that its
   * clock was set is right, too.
   */
  assertNamed(requestId: string, members: ReadonlyArray<MemberFault>): void {
    for (const { peerId, reason } of members)
      if (reason.includes(WAS_SET) && !this.#wasSet(peerId))
        throw new Violation(
          "S36",
          `the clock of peer ${peerId} was not set`,
          `request ${requestId} was answered that of peer ${peerId}: ${reason}`,
        );
    const named = members.filter(
      ({ reason }) => reason.includes("its clock") && !reason.includes("and that of") && !reason.includes(WAS_SET),
    );
    if (named.length === 0) return;
    const peers = this.#ports.peers();
    const wrong = peers.filter((peer) => this.#wasOff(peer));
    const isClear = peers.every(
      (peer) => wrong.includes(peer) || Math.abs(this.#offsetOf(peer)) + peer.clock.mostMovedMillis <= RIGHT_MILLIS,
    );
    if (wrong.length > 1 || !isClear || this.#isYoung(this.#unclearUntil)) return;
    const [known] = wrong;
    for (const { peerId, reason } of named)
      if (peerId !== known?.slot)
        throw new Violation(
          "S36",
          known === undefined ? "every clock is right" : `the clock of peer ${known.slot} is wrong, and no other one`,
          `request ${requestId} was answered that of peer ${peerId}: ${reason}`,
        );
  }

  #offsetOf(peer: SimPeer): number {
    const real = this.#ports.realMillis();
    return peer.clock.at(real) - real;
  }

  #isOff(peer: SimPeer): boolean {
    return Math.abs(this.#offsetOf(peer)) > WRONG_MILLIS;
  }

  #wasOff(peer: SimPeer): boolean {
    return this.#isOff(peer) || this.#isYoung(this.#wrongUntil[peer.slot]);
  }

  /** Whether a peer takes its wrong clock for right: its process has seen no other, or sees this one for too long. */
  #isMisled(peer: SimPeer): boolean {
    if (!this.#isOff(peer)) return false;
    const since = this.#wrongSince[peer.slot];
    if (since?.process !== peer.process) return true;
    return this.#ports.scheduler.now - since.at >= DOUBT_MICROS;
  }

  #wasSet(slot: number): boolean {
    const at = this.#setAt[slot];
    const remembered = DOUBT_MICROS + REMEMBERED_MICROS;
    return at !== undefined && this.#ports.scheduler.now - at < remembered;
  }

  #remember(peer: SimPeer): void {
    const { now } = this.#ports.scheduler;
    this.#setAt[peer.slot] = now;
    if (this.#isMisled(peer)) this.#misledUntil[peer.slot] = now;
    if (this.#isOff(peer)) this.#wrongUntil[peer.slot] = now;
    else if (Math.abs(this.#offsetOf(peer)) > RIGHT_MILLIS) this.#unclearUntil = now;
  }

  #isYoung(micros: number | undefined): boolean {
    return micros !== undefined && this.#ports.scheduler.now - micros < REMEMBERED_MICROS;
  }
}
