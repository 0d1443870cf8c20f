/** Timers that processes set, as real peers have them: each fires in the process that set it, or not at all. */
import type { TimerName } from "../../core/protocol/Event.ts";
import { Timers as ProcessTimers } from "../../runtime/Timers.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Ground } from "./Ground.ts";
import { processTime } from "./ProcessTime.ts";
import type { Tampering } from "./Tampering.ts";

export class Timers {
  readonly #ground: Ground;
  readonly #tampering: Tampering;
  /** Those of each peer's newest process, by slot. */
  readonly #running: Array<{ readonly process: number; readonly timers: ProcessTimers } | undefined> = [];

  constructor(ground: Ground, tampering: Tampering) {
    this.#ground = ground;
    this.#tampering = tampering;
  }

  /** A peer's process wants this timer to fire in so many milliseconds. */
  set(peer: SimPeer, timer: TimerName, afterMillis: number): void {
    this.#of(peer).set(timer, afterMillis);
  }

  #of(peer: SimPeer): ProcessTimers {
    const running = this.#running[peer.slot];
    if (running?.process === peer.process) return running.timers;
    const { later } = processTime(this.#ground, peer);
    const timers = new ProcessTimers(this.#tampering.later?.(later) ?? later, (timer) => this.#fire(peer, timer));
    this.#running[peer.slot] = { process: peer.process, timers };
    return timers;
  }

  #fire(peer: SimPeer, timer: TimerName): void {
    const { chronicle, settle } = this.#ground;
    chronicle.events += 1;
    chronicle.note("timer", peer.slot, timer);
    peer.dispatch({ _tag: "TimerFired", timer });
    settle(peer);
  }
}
