/**
 * The way of callers' requests to the driver: a few at a time, and the rest in between what comes from the network. The
 * driver handles its mail in order and without a pause, so that a thousand requests arriving at once would otherwise
 * delay every vote behind them by a second. Places are shared by callers, who are served in turn: a caller with a
 * thousand requests delays and crowds out only itself.
 */
import type { Later } from "./Time.ts";

/** Hands one request to the driver; `consumed` is called when its step is done. */
export type Enter = (consumed: () => void) => void;

interface Place {
  readonly enter: Enter;
  readonly turnedAway: () => void;
}

export interface GateLimits {
  /** Requests that may be in the driver's mailbox at once. */
  readonly inside: number;
  /** Requests of all callers that may wait for that. */
  readonly places: number;
}

export class CommandGate {
  /** By caller, who stand in the order of their turns; each has a request that waits. */
  readonly #waiting = new Map<string, Array<Place>>();
  readonly #later: Later;
  readonly #limits: GateLimits;
  #size = 0;
  #inside = 0;
  #isPlanned = false;

  /** @param later runs what is due at once only after all that has arrived by then */
  constructor(later: Later, limits: GateLimits) {
    this.#later = later;
    this.#limits = limits;
  }

  /** Requests that have not reached the driver yet. */
  get size(): number {
    return this.#size;
  }

  /**
   * Enters at once where there is room, otherwise in its caller's turn. Where all places are taken, the newest request
   * of whoever holds most is turned away, which may be this one.
   *
   * @returns gives up its place, if it still has one
   */
  enter(caller: string, enter: Enter, turnedAway: () => void): () => void {
    if (this.#inside < this.#limits.inside && this.#size === 0) {
      this.#admit(enter);
      return () => undefined;
    }
    const place = { enter, turnedAway };
    const own = this.#waiting.get(caller);
    if (own === undefined) this.#waiting.set(caller, [place]);
    else own.push(place);
    this.#size += 1;
    if (this.#size > this.#limits.places) this.#makeRoom(caller);
    this.#plan();
    return () => this.#leave(caller, place);
  }

  /** @param arriving gives way where nobody else holds more */
  #makeRoom(arriving: string): void {
    let giving = arriving;
    let most = this.#waiting.get(arriving)?.length ?? 0;
    for (const [caller, { length }] of this.#waiting) {
      if (length <= most) continue;
      giving = caller;
      most = length;
    }
    const newest = this.#waiting.get(giving)?.at(-1);
    if (newest === undefined) return;
    this.#leave(giving, newest);
    newest.turnedAway();
  }

  #leave(caller: string, place: Place): void {
    const own = this.#waiting.get(caller);
    const at = own?.indexOf(place) ?? -1;
    if (own === undefined || at === -1) return;
    own.splice(at, 1);
    this.#size -= 1;
    if (own.length === 0) this.#waiting.delete(caller);
  }

  /** The oldest request of the caller whose turn it is, who then goes behind all others. */
  #next(): Place | undefined {
    for (const [caller, own] of this.#waiting) {
      const [first] = own;
      this.#waiting.delete(caller);
      own.shift();
      this.#size -= 1;
      if (own.length > 0) this.#waiting.set(caller, own);
      return first;
    }
    return undefined;
  }

  #admit(enter: Enter): void {
    this.#inside += 1;
    enter(() => {
      this.#inside -= 1;
      this.#plan();
    });
  }

  /** Goes on in a later turn, after what the network has brought by then. */
  #plan(): void {
    if (this.#isPlanned || this.#size === 0 || this.#inside >= this.#limits.inside) return;
    this.#isPlanned = true;
    this.#later(() => {
      for (let room = this.#limits.inside - this.#inside; room > 0; room -= 1) {
        const next = this.#next();
        if (next === undefined) break;
        this.#admit(next.enter);
      }
      this.#isPlanned = false;
      this.#plan();
    }, 0);
  }
}
