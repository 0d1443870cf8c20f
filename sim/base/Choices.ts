/**
 * Every decision of a run that nothing else makes. One decision, as a person would name it, is a *unit*: the way of
 * one message, one flush, one act of a caller, one fault, one field of the plan. A unit belongs to the stream of its
 * component and has a number there; its draws depend on the seed, the stream, that number and their own position
 * and on nothing else, so that a unit that is taken away or drawn otherwise leaves the draws of all others as they
 * were. Whole numbers only.
 */
import { Mixer } from "./Mixer.ts";

const TURN = 0x9e3779b1;
const SPREAD = 0x85ebca6b;
const FOLD = 0xc2b2ae35;

/** A range of whole numbers, both ends included. */
export type Stretch = readonly [least: number, most: number];

/**
 * Looks at every draw and may replace its value: records it, reads it from a tape, keeps it quiet. Each draw has a
 * label, says which values are lawful, and names its quiet one: that of a run in which nothing happens.
 */
export interface Decider {
  /** A whole number from `floor` to `ceiling`. */
  readonly whole: (unit: Unit, label: string, drawn: number, quiet: number, floor: number, ceiling: number) => number;
  /** Whether something happens; the quiet value is that it does not. */
  readonly flag: (unit: Unit, label: string, drawn: boolean) => boolean;
  /** One of some names, by its index among them. */
  readonly named: (unit: Unit, label: string, drawn: number, quiet: number, names: ReadonlyArray<string>) => number;
}

/** One decision. Its draws are made in turn, at once or as the world comes to them. */
export class Unit {
  readonly stream: string;
  /** Its position in the stream, from 1. */
  readonly ordinal: number;
  readonly #decider: Decider | undefined;
  #left: number;
  readonly #right: number;

  constructor(stream: string, ordinal: number, left: number, right: number, decider: Decider | undefined) {
    this.stream = stream;
    this.ordinal = ordinal;
    this.#left = left;
    this.#right = right;
    this.#decider = decider;
  }

  /** A whole number from 0 to `count` - 1, for a count of at most 2^31 - 1: the middle of two rounds of mixing is keyed too. */
  #below(count: number): number {
    const turn = (this.#left + TURN) | 0;
    this.#left = turn;
    let mixed = Math.imul(turn ^ (turn >>> 16), SPREAD) ^ this.#right;
    mixed = Math.imul(mixed ^ (mixed >>> 13), FOLD);
    return ((mixed ^ (mixed >>> 16)) >>> 1) % count;
  }

  /**
   * A whole number from `least` to `most`. Where the world of the moment decides
   * how far these reach, `floor` and `ceiling` say which values could ever be: a
   * tape may hold any of them, so that it needs no fault that stretched the range.
   */
  between(label: string, quiet: number, least: number, most: number, floor = least, ceiling = most): number {
    const drawn = least + (most > least ? this.#below(most - least + 1) : 0);
    return this.#decider === undefined ? drawn : this.#decider.whole(this, label, drawn, quiet, floor, ceiling);
  }

  /** A whole number out of one of some ranges, each as likely as the others. */
  spread(
    label: string,
    quiet: number,
    stretches: readonly [Stretch, ...ReadonlyArray<Stretch>],
    floor: number,
    ceiling: number,
  ): number {
    const [least, most] = stretches[this.#below(stretches.length)] ?? stretches[0];
    return this.between(label, quiet, least, most, floor, ceiling);
  }

  /** One of some numbers, each as likely as the others. */
  oneOf(label: string, quiet: number, values: readonly [number, ...ReadonlyArray<number>]): number {
    const drawn = values[this.#below(values.length)] ?? values[0];
    return this.#decider === undefined
      ? drawn
      : this.#decider.whole(this, label, drawn, quiet, Math.min(...values), Math.max(...values));
  }

  /** True `perMille` times in a thousand. */
  chance(label: string, perMille: number): boolean {
    const drawn = perMille > 0 && (perMille >= 1000 || this.#below(1000) < perMille);
    return this.#decider === undefined ? drawn : this.#decider.flag(this, label, drawn);
  }

  /** One of some names, each as likely as its weight (a whole number from 0) says; the quiet one where all weigh nothing. */
  named<N extends string>(label: string, quiet: N, names: ReadonlyArray<N>, weights: ReadonlyArray<number>): N {
    let total = 0;
    for (const weight of weights) total += weight;
    const still = names.indexOf(quiet);
    let drawn = still;
    if (total > 0) {
      let left = this.#below(total);
      drawn = weights.findIndex((weight) => (left -= weight) < 0);
    }
    if (this.#decider !== undefined) drawn = this.#decider.named(this, label, drawn, still, names);
    return names[drawn] ?? quiet;
  }
}

/** The units of one component, numbered as they come. */
export class Stream {
  readonly name: string;
  readonly #left: number;
  readonly #right: number;
  readonly #decider: Decider | undefined;
  #count = 0;

  constructor(name: string, left: number, right: number, decider: Decider | undefined) {
    this.name = name;
    this.#left = left;
    this.#right = right;
    this.#decider = decider;
  }

  /** The next unit. */
  next(): Unit {
    const ordinal = ++this.#count;
    let left = Math.imul(this.#left ^ ordinal, SPREAD);
    left = Math.imul(left ^ (left >>> 15), FOLD);
    return new Unit(
      this.name,
      ordinal,
      left ^ (left >>> 13),
      (this.#right + Math.imul(ordinal, TURN)) | 0,
      this.#decider,
    );
  }
}

/** The choices of one run. */
export class Choices {
  readonly seed: number;
  readonly #decider: Decider | undefined;
  readonly #streams = new Map<string, Stream>();
  readonly #mixer = new Mixer();

  /**
   * @param seed a whole number from 0 to 2^48
   * @param decider has the last word on every draw; without it the seed has
   */
  constructor(seed: number, decider?: Decider) {
    this.seed = seed;
    this.#decider = decider;
  }

  /** The stream of a component, by its name: always the same one for the same name. */
  stream(name: string): Stream {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const mixer = this.#mixer.reset(this.seed | 0);
    mixer.word(Math.floor(this.seed / 0x100000000));
    mixer.text(name);
    const stream = new Stream(name, mixer.first, mixer.second, this.#decider);
    this.#streams.set(name, stream);
    return stream;
  }

  /** The one unit of a field of the plan. */
  plan(field: string): Unit {
    return this.stream(`plan ${field}`).next();
  }
}
