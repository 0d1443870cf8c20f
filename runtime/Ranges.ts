/**
 * All stored rows, cut into ranges of their names (table, slash, key): each with how many rows it has and a digest of
 * them. Small enough to be in memory as a whole, it says what must be read to prove one row, its absence or a page.
 */
import type { Digest } from "../core/base/Digest.ts";
import type { TableName } from "../core/Tables.ts";
import type { Cutting } from "./Cutting.ts";

export const nameOf = (table: TableName, key: string): string => `${table}/${key}`;

/** Above all names of a table: the slash's next sign. */
export const endOf = (table: TableName): string => `${table}0`;

/** In place of the digest of an open range: one of those that change all the time, of which the head has the sum. */
export const OPEN = "0".repeat(64) as Digest;

/** Where nobody remembers a transaction that changed a range. */
export const NEVER = Number.NEGATIVE_INFINITY;

/** A range as it is stored. */
export interface StoredRange {
  /** All its names are above this one. */
  readonly after: string;
  /** Of an open one, as many as there once were. */
  readonly rows: number;
  readonly digest: Digest;
}

export interface Range extends StoredRange {
  /** The sum of its rows' elements, once they were found to hold. */
  sum: bigint | undefined;
  /** No name in it is above this one; undefined until its rows were found to hold. */
  last: string | undefined;
  /** The last transaction that changed it, or {@link NEVER}. */
  readonly changedIn: number;
  /** How far it was read, of one that will have to be cut soon. */
  readonly cutting?: Cutting | undefined;
}

/** What a transaction makes of one range: none where the one before it takes its place. */
export interface Replacement {
  readonly old: Range;
  readonly pieces: ReadonlyArray<Range>;
}

/** Modulo 2^256, as sums of elements are. */
export const modulo = (value: bigint): bigint => BigInt.asUintN(256, value);

export class Ranges {
  /** By their beginnings, the first of which is empty. */
  readonly #ranges: Array<Range>;

  /** @param ranges sorted, the first from the beginning */
  constructor(ranges: ReadonlyArray<Range>) {
    this.#ranges = [...ranges];
  }

  get all(): ReadonlyArray<Range> {
    return this.#ranges;
  }

  /** The one that a name belongs to, whether there is such a row or not. */
  at(name: string): Range {
    return this.#get(this.#place(name));
  }

  /** Where a range ends; undefined at the end of all. */
  end(range: Range): string | undefined {
    return this.#ranges[this.#placeOf(range) + 1]?.after;
  }

  /** Those with names above `after`, up to and with the one that `upTo` belongs to. */
  between(after: string, upTo: string): ReadonlyArray<Range> {
    const first = this.#place(after);
    // Nothing above it is in a range that ends with it.
    const begin = this.#ranges[first + 1]?.after === after ? first + 1 : first;
    return this.#ranges.slice(begin, this.#place(upTo) + 1);
  }

  /** The first one behind a name whose rows nobody has looked at. */
  unproven(after: string): Range | undefined {
    for (let at = this.#place(after); at < this.#ranges.length; at++)
      if (this.#get(at).sum === undefined) return this.#get(at);
    return undefined;
  }

  /** All of them once these are made. */
  with(replacements: ReadonlyArray<Replacement>): ReadonlyArray<Range> {
    const byOld = new Map(replacements.map(({ old, pieces }) => [old, pieces]));
    return this.#ranges.flatMap((range) => byOld.get(range) ?? [range]);
  }

  apply(replacements: ReadonlyArray<Replacement>): void {
    for (const { old, pieces } of replacements) this.#ranges.splice(this.#placeOf(old), 1, ...pieces);
  }

  /** Where the range is that has the name, or the largest beginning below it. */
  #place(name: string): number {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#get(middle).after < name) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #placeOf(range: Range): number {
    const before = this.#place(range.after);
    return this.#ranges[before] === range ? before : before + 1;
  }

  #get(place: number): Range {
    const range = this.#ranges[place];
    if (range === undefined) throw new RangeError(`there is no range ${place}`);
    return range;
  }
}

/** A name between two: of all above the first and below the second, or the first itself, one of the shortest. */
export const between = (left: string, right: string): string => {
  let common = 0;
  while (common < left.length && left[common] === right[common]) common += 1;
  const prefix = right.slice(0, common + 1);
  return prefix < right ? prefix : left;
};

/** A row in a range: its name, and its element. */
export interface Member {
  readonly name: string;
  readonly element: bigint;
}

export const tableOf = (name: string): string => name.slice(0, name.indexOf("/"));

/** Names that follow one another, `most` at a time. */
export const chunked = (members: ReadonlyArray<Member>, most: number): ReadonlyArray<ReadonlyArray<Member>> =>
  Array.from({ length: Math.ceil(members.length / most) }, (_, at) => members.slice(at * most, (at + 1) * most));
