/**
 * Reads that take this thread longer than others may wait, by turns: a slice of one caller's, then whatever else the
 * thread has to do, then a slice of the next caller's. So nobody waits for more than one slice of each other caller,
 * however much these have asked for; of each caller one read is under way, the others wait behind it.
 */
import { Effect } from "effect";
import { type HttpFault, httpFault } from "./HttpErrors.ts";

/** How long one slice may take; the step that passes it is finished. */
const SLICE_MILLIS = 1;

export interface LongReadBounds {
  /** Callers with a read under way, each of which may hold a page of answers. */
  readonly callers: number;
  /** Reads of one caller, those that wait among them. */
  readonly ofCaller: number;
}

const usual: LongReadBounds = { callers: 64, ofCaller: 64 };

/** Does one slice; whether it was the last. */
type Slice = () => boolean;

const full = (detail: string): HttpFault =>
  httpFault("REQUEST_CAPACITY", detail, "Repeat the request after Retry-After, or send it to another peer.");

export class LongReads {
  readonly #elapsed: () => number;
  readonly #bounds: LongReadBounds;
  /** The reads of each caller, oldest first; whose turn it is stands first. */
  readonly #callers = new Map<string, Array<Slice>>();
  #isPlanned = false;

  /** @param elapsed milliseconds of a clock that never goes back */
  constructor(elapsed: () => number, bounds = usual) {
    this.#elapsed = elapsed;
    this.#bounds = bounds;
  }

  /**
   * Runs a generator to its end, which may pause wherever something else can be done; stops where its caller goes away.
   *
   * @param caller whose turns it takes
   * @returns what the generator returns; fails with `REQUEST_CAPACITY` where too many callers, or too many reads of this
   *   one, are there already; what it throws is a defect
   */
  run<A>(caller: string, work: Iterator<unknown, A>): Effect.Effect<A, HttpFault> {
    return Effect.async<A, HttpFault>((resume) => {
      const fault = this.#fault(caller);
      if (fault !== undefined) return void resume(Effect.fail(fault));
      const slice = (): boolean => {
        try {
          const end = this.#elapsed() + SLICE_MILLIS;
          do {
            const step = work.next();
            if (step.done !== true) continue;
            resume(Effect.succeed(step.value));
            return true;
          } while (this.#elapsed() < end);
          return false;
        } catch (thrown) {
          resume(Effect.die(thrown));
          return true;
        }
      };
      this.#callers.set(caller, [...(this.#callers.get(caller) ?? []), slice]);
      this.#plan();
      return Effect.sync(() => this.#leave(caller, slice));
    });
  }

  #fault(caller: string): HttpFault | undefined {
    const { callers, ofCaller } = this.#bounds;
    const own = this.#callers.get(caller)?.length ?? 0;
    if (own >= ofCaller)
      return full(`This peer has ${ofCaller} lists, policies and audit pages of this token's subject to do.`);
    return own === 0 && this.#callers.size >= callers
      ? full(`This peer makes lists, policies and audit pages for ${callers} callers already.`)
      : undefined;
  }

  #leave(caller: string, slice: Slice): void {
    const left = (this.#callers.get(caller) ?? []).filter((each) => each !== slice);
    if (left.length === 0) this.#callers.delete(caller);
    else this.#callers.set(caller, left);
  }

  #plan(): void {
    if (this.#isPlanned || this.#callers.size === 0) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#next();
      this.#plan();
    });
  }

  #next(): void {
    const [first] = this.#callers;
    if (first === undefined) return;
    const [caller, reads] = first;
    for (const slice of reads.slice(0, 1)) if (slice()) this.#leave(caller, slice);
    const left = this.#callers.get(caller);
    if (left === undefined) return;
    // To the end of the row.
    this.#callers.delete(caller);
    this.#callers.set(caller, left);
  }
}
