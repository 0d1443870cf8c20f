/** Walks every configuration that a small world can reach, each once. */
import { Violation } from "../base/Violation.ts";
import type { Tampering } from "../world/Tampering.ts";
import type { Claims } from "./Claims.ts";
import { type Configuration, type Scope, storyOf } from "./Configuration.ts";
import { type Start, startOf } from "./Founding.ts";
import type { Move, Moves } from "./Moves.ts";
import { VisitedSet } from "./VisitedSet.ts";

/** Timers that may fire before everything is decided, once nothing more goes wrong. */
const MOST_QUIET_MOVES = 5_000;

export interface ExploreOptions extends Scope {
  /** Configurations after which the search ends, complete or not. */
  readonly mostStates: number;
  /** Says now and then whether there is time for more. */
  readonly isTimeUp?: (() => boolean) | undefined;
  /** A planted bug: what it changes of rows, answers, states and cryptography. */
  readonly tampering?: Pick<Tampering, "written" | "answered" | "stepped" | "cryptography"> | undefined;
  readonly progress?: ((states: number) => void) | undefined;
}

export interface Exploration {
  readonly states: number;
  readonly moves: number;
  /** Configurations in which nothing was on its way, each followed to its end without further faults. */
  readonly ends: number;
  readonly deepest: number;
  /** Whether everything within the bounds was seen. */
  readonly complete: boolean;
  readonly failure: { readonly violation: Violation; readonly story: ReadonlyArray<string> } | undefined;
}

const EXPANSIONS_BETWEEN_LOOKS = 4_096;

/** Whether all processes run, and nothing is on its way. */
const isStill = ({ flying, members }: Configuration): boolean =>
  flying.length === 0 && members.every(({ flushing, memory }) => memory !== undefined && flushing === undefined);

class Search {
  readonly #moves: Moves;
  readonly #claims: Claims;
  readonly #seen = new VisitedSet();
  /** Configurations known to come to rest. */
  readonly #resting = new VisitedSet();
  readonly #stack: Array<{ readonly at: Configuration; readonly depth: number }> = [];
  made = 0;
  ends = 0;
  deepest = 0;
  /** The configuration in which a claim failed. */
  last: Configuration;

  constructor({ first, moves, claims }: Start) {
    this.#moves = moves;
    this.#claims = claims;
    this.last = first;
  }

  /** Takes the first configuration in; throws as {@link expand}. */
  begin(): void {
    this.#enter(this.last, 0);
  }

  get states(): number {
    return this.#seen.size;
  }

  get isDone(): boolean {
    return this.#stack.length === 0;
  }

  /** Makes every move of one configuration. Throws the {@link Violation} of a claim that fails. */
  expand(): void {
    const next = this.#stack.pop();
    if (next === undefined) return;
    const { at, depth } = next;
    this.last = at;
    for (const move of this.#movesOf(at)) {
      const after = move.make();
      this.made += 1;
      this.last = after;
      this.#claims.assertSafe(after, at);
      this.#enter(after, depth + 1);
    }
  }

  /** What can happen, and where nothing does by itself and time goes on, what happens next. */
  #movesOf(at: Configuration): ReadonlyArray<Move> {
    const moves = this.#moves.of(at);
    if (!this.#moves.isTimed || !isStill(at) || this.#claims.remainderOf(at) === undefined) return moves;
    const next = this.#moves.quiet(at);
    return next === undefined ? moves : [...moves, next];
  }

  #enter(at: Configuration, depth: number): void {
    if (!this.#seen.add(at.print)) return;
    this.deepest = Math.max(this.deepest, depth);
    this.#stack.push({ at, depth });
    if (isStill(at)) this.#assertComesToRest(at);
  }

  /** L1, L2, L6: from here on nothing goes wrong any more, so everything is decided before long. */
  #assertComesToRest(from: Configuration): void {
    this.ends += 1;
    let at = from;
    for (let count = 0; this.#claims.remainderOf(at) !== undefined && this.#resting.add(at.print); count++) {
      const move = this.#moves.quiet(at);
      if (move === undefined || count > MOST_QUIET_MOVES)
        throw new Violation(
          this.#claims.unfinished,
          "nothing goes wrong any more",
          this.#claims.remainderOf(at) ?? "nothing is left to do",
        );
      const after = move.make();
      this.last = after;
      this.#claims.assertSafe(after, at);
      at = after;
    }
  }
}

/** Searches within the bounds, depth first. */
export const explore = (options: ExploreOptions): Exploration => {
  const { mostStates, isTimeUp, tampering = {}, progress } = options;
  const search = new Search(startOf(options, tampering));
  let failure: Exploration["failure"];
  let looks = 0;
  try {
    search.begin();
    while (!search.isDone && search.states < mostStates) {
      if (++looks % EXPANSIONS_BETWEEN_LOOKS === 0) {
        progress?.(search.states);
        if (isTimeUp?.() === true) break;
      }
      search.expand();
    }
  } catch (fault) {
    if (!(fault instanceof Violation)) throw fault;
    failure = { violation: fault, story: storyOf(search.last) };
  }
  const { states, made, ends, deepest, isDone } = search;
  return { states, moves: made, ends, deepest, complete: isDone && failure === undefined, failure };
};
