/**
 * Which requests a peer must answer in time (L10): those it took up at once, if its process still runs and nothing
 * has held it up since. Time spent so is virtual time, which is what its monotonic clock shows.
 */
import type { SimPeer } from "./SimPeer.ts";

/** A flush that takes longer, in microseconds, holds its peer up: timers are set when it has ended. */
const LONG_FLUSH_MICROS = 50_000;

interface Taken {
  readonly peer: SimPeer;
  readonly process: number;
  /** Microseconds. */
  readonly askedAt: number;
}

export class Deadlines {
  readonly #taken = new Map<string, Taken>();

  /** A peer stands still from `now` on, for so many microseconds. */
  paused(peer: SimPeer, now: number, micros: number): void {
    peer.heldUpUntil = Math.max(peer.heldUpUntil, now + micros);
  }

  /** A flush of a peer begins at `now` and takes so many microseconds. */
  flushing(peer: SimPeer, now: number, micros: number): void {
    if (micros > LONG_FLUSH_MICROS) this.paused(peer, now, micros);
  }

  /** A request reached a peer at `askedAt` microseconds; one that waits behind others is not counted. */
  asked(requestId: string, peer: SimPeer, askedAt: number): void {
    if (peer.isCaughtUp) this.#taken.set(requestId, { peer, process: peer.process, askedAt });
  }

  /** It was answered, or no caller waits for it any more. */
  ended(requestId: string): void {
    this.#taken.delete(requestId);
  }

  /** The request, where its peer has had all the time since then to answer it. */
  undisturbed(requestId: string): Taken | undefined {
    const taken = this.#taken.get(requestId);
    if (taken === undefined) return undefined;
    const { peer, process, askedAt } = taken;
    const isUndisturbed = peer.process === process && peer.heldUpUntil < askedAt;
    return isUndisturbed && peer.isCaughtUp ? taken : undefined;
  }
}
