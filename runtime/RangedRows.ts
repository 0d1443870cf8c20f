/**
 * The rows of a store while its keys are in use: their ranges, which the head proves, and which of these were looked at.
 * A range is looked at before anything in it is believed, and before it is changed; so no transaction under way ever
 * changes one that is not proven. The rest is looked at in the background.
 */
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest } from "../core/base/Digest.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import type { TableName } from "../core/Tables.ts";
import type { Change } from "./ByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import type { Found, RangeProof } from "./RangeProof.ts";
import type { RangeRows, RangeSizes } from "./RangeRows.ts";
import {
  between,
  chunked,
  cut,
  endOf,
  type Member,
  modulo,
  nameOf,
  type Range,
  Ranges,
  type Replacement,
  tableOf,
} from "./Ranges.ts";
import type { ReadAtStart } from "./ReadAtStart.ts";
import { type IntegrityKey, rangeDigestOf, rangesDigestOf } from "./RowSeal.ts";
import type { Piece, Verified } from "./RowSum.ts";

/** Seals without rows that go with one transaction, where a verification has found them. */
const UNNEEDED_AT_ONCE = 16;

/** What a transaction does to one row: its element before and after. */
export interface Move {
  readonly table: TableName;
  readonly key: string;
  readonly removed?: bigint | undefined;
  readonly added?: bigint;
}

/** What a transaction does to ranges. */
export interface Plan {
  readonly changes: ReadonlyArray<Change>;
  /** For the head. */
  readonly digest: Digest;
  /** To be called once it is durable. */
  readonly done: () => void;
}

export interface RangedPorts {
  readonly crypto: Crypto;
  readonly integrity: IntegrityKey;
  readonly proof: RangeProof;
  readonly stored: RangeRows;
  readonly sizes: RangeSizes;
  readonly found: Found;
  /** The last durable transaction, where its seal is a row. */
  readonly newest: () => number;
}

interface Delta {
  rows: number;
  sum: bigint;
  readonly removed: Set<string>;
  readonly added: Map<string, bigint>;
}

/** A range as its rows make it. */
export const rangeOf = (
  { crypto, integrity }: Pick<RangedPorts, "crypto" | "integrity">,
  { after, rows, sum, last }: Piece,
): Range => ({ after, rows, digest: rangeDigestOf(crypto, integrity, after, rows, sum), sum, last });

const sumOf = (members: ReadonlyArray<Member>): bigint =>
  modulo(members.reduce((sum, { element }) => sum + element, 0n));

const byName = (left: Member, right: Member): number => (left.name < right.name ? -1 : 1);

export class RangedRows {
  readonly found: Found;
  readonly #ports: RangedPorts;
  readonly #ranges: Ranges;
  #fault: IntegrityFailure | undefined;
  #isWhole: boolean;
  #unneeded: Array<number> = [];

  /** @param ranges proven as a whole; those without a sum have not been looked at */
  constructor(ports: RangedPorts, ranges: ReadonlyArray<Range>) {
    this.found = ports.found;
    this.#ports = ports;
    this.#ranges = new Ranges(ranges);
    this.#isWhole = ranges.every(({ sum }) => sum !== undefined);
    if (this.#isWhole) this.#findUnneeded();
  }

  /** What was found not to hold since: nothing may be written any more. */
  get fault(): IntegrityFailure | undefined {
    return this.#fault;
  }

  /** Whether all rows were looked at. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Proves whatever is under a key, or is not. Throws {@link IntegrityFailure}. */
  proveAt(table: TableName, key: string): void {
    this.#prove(this.#ranges.at(nameOf(table, key)));
  }

  /** Proves all rows of a table above `after`, up to and with `upTo` or to its end, and that there are no others. */
  proveBetween(table: TableName, after: string, upTo: string | undefined): void {
    for (const range of this.#between(table, after, upTo)) this.#prove(range);
  }

  /** Proves what was read at the start, which must not differ now; pauses after every range. Returns what differs. */
  *proveStart(
    read: ReadAtStart | undefined,
    tables: ReadonlyArray<TableName>,
  ): Generator<Verified, string | undefined> {
    const needed = new Set(tables.flatMap((table) => this.#between(table, "", undefined)));
    for (const { table, after, upTo } of read?.pages ?? [])
      for (const range of this.#between(table, after, upTo)) needed.add(range);
    // A seal behind the last one was not written by this peer, or with a head that is gone.
    needed.add(this.#ranges.at(nameOf("seals", numberKey(this.#ports.newest() + 1))));
    for (const { table, key } of read?.keys ?? []) needed.add(this.#ranges.at(nameOf(table, key)));
    const comparison = read?.comparison();
    let rows = 0;
    const of = [...needed].reduce((sum, range) => sum + range.rows, 0);
    yield { rows, of };
    for (const range of needed) {
      if (range.sum === undefined)
        rows += this.#ports.proof.prove(range, this.#ranges.end(range), this.#ports.newest(), this.found, comparison);
      yield { rows, of };
    }
    return comparison?.difference();
  }

  /** Proves all that is not proven yet, a range at a time. Throws {@link IntegrityFailure}. */
  *rest(): Generator<Verified, void> {
    const of = this.#ranges.all.reduce((sum, { rows }) => sum + rows, 0);
    let rows = this.#ranges.all.reduce((sum, range) => sum + (range.sum === undefined ? 0 : range.rows), 0);
    for (let at = this.#ranges.unproven(""); at !== undefined; at = this.#ranges.unproven(at.after)) {
      this.#prove(at);
      rows += at.rows;
      yield { rows, of: Math.max(rows, of) };
    }
    if (this.#isWhole) return;
    const unsealed = this.found.uses.unsealed;
    if (unsealed !== undefined) {
      this.#fault = new IntegrityFailure(`seals/${numberKey(unsealed)}`, "it is missing, and rows need it");
      throw this.#fault;
    }
    this.#isWhole = true;
    this.#findUnneeded();
  }

  /** Some seals that no row needs any more, left from before it was known how many need them. */
  takeUnneeded(): ReadonlyArray<number> {
    return this.#unneeded.splice(0, UNNEEDED_AT_ONCE).filter((number) => this.found.uses.of(number) === 0);
  }

  /**
   * What a transaction does to ranges, all of which are proven.
   *
   * @param rows how many there are afterwards, as the head counts them
   * @param moves none of which touches a row that another one touches
   */
  plan(transaction: number, rows: number, moves: ReadonlyArray<Move>): Plan {
    const { crypto, integrity, stored } = this.#ports;
    const deltas = new Map<Range, Delta>();
    for (const { table, key, removed, added } of moves) {
      const name = nameOf(table, key);
      const range = this.#ranges.at(name);
      const delta = deltas.get(range) ?? { rows: 0, sum: 0n, removed: new Set(), added: new Map() };
      deltas.set(range, delta);
      if (removed !== undefined) {
        delta.rows -= 1;
        delta.sum -= removed;
        delta.removed.add(name);
      }
      if (added === undefined) continue;
      delta.rows += 1;
      delta.sum += added;
      delta.added.set(name, added);
    }
    const replacements = [...deltas].map(([old, delta]) => ({ old, pieces: this.#pieces(old, delta) }));
    const { changes, chain, done } = stored.write(transaction, replacements, this.#ranges.all.length, () =>
      this.#ranges.with(replacements),
    );
    return {
      changes,
      digest: rangesDigestOf(crypto, integrity, { transactions: transaction, rows, chain }),
      done: () => {
        done();
        this.#ranges.apply(replacements);
      },
    };
  }

  #pieces(old: Range, { rows, sum, removed, added }: Delta): Replacement["pieces"] {
    const { most, piece: size } = this.#ports.sizes;
    let last = old.last ?? old.after;
    for (const name of added.keys()) if (name > last) last = name;
    const piece = { after: old.after, rows: old.rows + rows, sum: modulo((old.sum ?? 0n) + sum), last };
    if (piece.rows === 0 && old.after !== "") return [];
    if (piece.rows <= most) return [rangeOf(this.#ports, piece)];
    const newest = [...added].map(([name, element]) => ({ name, element })).toSorted(byName);
    const appended = this.#appended(old, piece, newest);
    if (appended !== undefined) return appended;
    const members = this.#members(old).filter(({ name }) => !removed.has(name));
    return this.#cut(old.after, "", cut([...members, ...newest].toSorted(byName), most, size));
  }

  /** Of a table whose keys grow: what was there stays as it is, unread, and what is new follows it. */
  #appended(old: Range, { rows, sum }: Piece, added: ReadonlyArray<Member>): Replacement["pieces"] | undefined {
    const { most } = this.#ports.sizes;
    const first = added[0]?.name ?? "";
    const left = rows - added.length;
    if (old.last === undefined || first <= old.last || left > most || left * 2 < most) return undefined;
    if (tableOf(old.after) !== tableOf(old.last)) return undefined;
    const stays = { after: old.after, rows: left, sum: modulo(sum - sumOf(added)), last: old.last };
    return [rangeOf(this.#ports, stays), ...this.#cut(old.after, old.last, chunked(added, most))];
  }

  /** @param last the last name before these parts, if there is one in their range */
  #cut(begin: string, last: string, parts: ReadonlyArray<ReadonlyArray<Member>>): ReadonlyArray<Range> {
    let after = begin;
    let before = last;
    return parts.map((part) => {
      if (before !== "") after = between(before, part[0]?.name ?? "");
      before = part.at(-1)?.name ?? "";
      return rangeOf(this.#ports, { after, rows: part.length, sum: sumOf(part), last: before });
    });
  }

  #members(range: Range): ReadonlyArray<Member> {
    return this.#noting(() => this.#ports.proof.members(range, this.#ranges.end(range), this.#ports.newest()));
  }

  #prove(range: Range): void {
    if (range.sum !== undefined) return;
    this.#noting(() => this.#ports.proof.prove(range, this.#ranges.end(range), this.#ports.newest(), this.found));
  }

  #noting<A>(look: () => A): A {
    try {
      return look();
    } catch (fault) {
      if (fault instanceof IntegrityFailure) this.#fault ??= fault;
      throw fault;
    }
  }

  #between(table: TableName, after: string, upTo: string | undefined): ReadonlyArray<Range> {
    return this.#ranges.between(nameOf(table, after), upTo === undefined ? endOf(table) : nameOf(table, upTo));
  }

  #findUnneeded(): void {
    const newest = this.#ports.newest();
    this.#unneeded = this.found.uses.unneeded.filter((number) => number !== newest);
  }
}
