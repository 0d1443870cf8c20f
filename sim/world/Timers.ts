/** Timers that processes set: each fires in the process that set it, or not at all. */
import type { TimerName } from "../../core/protocol/Event.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Ground } from "./Ground.ts";

export class Timers {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** A peer's process wants this timer to fire in so many milliseconds. */
  set(peer: SimPeer, timer: TimerName, afterMillis: number): void {
    const { process } = peer;
    const { scheduler, pauses } = this.#ground;
    scheduler.after(afterMillis * 1000, () => {
      const waiting = pauses.waitingFor(peer);
      if (waiting === undefined) this.#fire(peer, process, timer);
      else waiting.push(() => this.#fire(peer, process, timer));
    });
  }

  #fire(peer: SimPeer, process: number, timer: TimerName): void {
    if (!peer.isUp || peer.process !== process) return;
    const { chronicle, settle } = this.#ground;
    chronicle.events += 1;
    chronicle.note("timer", peer.slot, timer);
    peer.dispatch({ _tag: "TimerFired", timer });
    settle(peer);
  }
}
