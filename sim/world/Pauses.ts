/** Processes that stand still for a while, as under SIGSTOP: what reaches one waits, and then comes all at once. */
import type { Deadlines } from "./Deadlines.ts";
import type { Scheduler } from "./Scheduler.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Chronicle } from "./Chronicle.ts";

export class Pauses {
  readonly #scheduler: Scheduler;
  readonly #chronicle: Chronicle;
  readonly #deadlines: Deadlines;
  /** What waits for each peer that stands still, by slot. */
  readonly #waiting = new Map<number, Array<() => void>>();

  constructor(scheduler: Scheduler, chronicle: Chronicle, deadlines: Deadlines) {
    this.#scheduler = scheduler;
    this.#chronicle = chronicle;
    this.#deadlines = deadlines;
  }

  /** Stops a peer's process for so many microseconds; one that is down or stands still already is left alone. */
  pause(peer: SimPeer, micros: number): void {
    if (!peer.isUp || this.#waiting.has(peer.slot)) return;
    const { process } = peer;
    this.#waiting.set(peer.slot, []);
    this.#chronicle.note("pause", peer.slot, "");
    this.#deadlines.paused(peer, this.#scheduler.now, micros);
    this.#scheduler.after(micros, () => {
      if (peer.process === process) this.resume(peer);
    });
  }

  /** Lets a peer go on, with all that has waited for it. */
  resume(peer: SimPeer): void {
    const waiting = this.#waiting.get(peer.slot);
    if (waiting === undefined) return;
    this.#waiting.delete(peer.slot);
    this.#chronicle.note("resume", peer.slot, "", waiting.length);
    if (waiting.length > 0) this.#chronicle.marks.add("what had waited for a peer that stood still came at once");
    for (const run of waiting) run();
  }

  /** A peer's process has ended, and what waited for it with it. */
  forget(peer: SimPeer): void {
    this.#waiting.delete(peer.slot);
  }

  /**
   * The queue of a peer that stands still; undefined where it does not. What happens to a peer is made into a closure
   * only where it has to wait, which saves one for every event.
   */
  waitingFor(peer: SimPeer): Array<() => void> | undefined {
    return this.#waiting.size === 0 ? undefined : this.#waiting.get(peer.slot);
  }

  /** Runs something that happens to a peer, now or when it goes on. */
  whenAwake(peer: SimPeer, run: () => void): void {
    const waiting = this.waitingFor(peer);
    if (waiting === undefined) run();
    else waiting.push(run);
  }
}
