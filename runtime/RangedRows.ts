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
import {
  changedBy,
  cut,
  type Cutting,
  joined,
  type Moved,
  type Read,
  readOn,
  refined,
  rowsDue,
  sumOf,
  unread,
} from "./Cutting.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import type { Found, RangeProof } from "./RangeProof.ts";
import type { RangeRows, RangeSizes } from "./RangeRows.ts";
import {
  between,
  chunked,
  endOf,
  type Member,
  modulo,
  nameOf,
  NEVER,
  OPEN,
  type Range,
  Ranges,
  type Replacement,
  tableOf,
} from "./Ranges.ts";
import type { Comparison, ReadAtStart } from "./ReadAtStart.ts";
import { type IntegrityKey, openDigestOf, rangeDigestOf } from "./RowSeal.ts";
import type { Piece, Verified } from "./RowSum.ts";

/** Seals without rows that go with one transaction, where a verification has found them. */
const UNNEEDED_AT_ONCE = 16;

/** A range that changes twice within so many transactions is opened, if there is room. */
const OPENED_WITHIN = 4;
/** So often open ranges are looked for that did not change since the last time. */
const CLOSED_EVERY = 64;

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
  /** For the head, and for what lies beside it. */
  readonly digest: Digest;
  readonly chain: Digest;
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

interface Delta extends Moved {
  rows: number;
  sum: bigint;
  readonly removed: Array<Member>;
  readonly added: Array<Member>;
}

const UNCHANGED: Delta = { rows: 0, sum: 0n, removed: [], added: [] };

/** A range as its rows make it. */
export const rangeOf = (
  { crypto, integrity }: Pick<RangedPorts, "crypto" | "integrity">,
  { after, rows, sum, last }: Piece,
  changedIn = NEVER,
): Range => ({ after, rows, digest: rangeDigestOf(crypto, integrity, after, rows, sum), sum, last, changedIn });

/** What open ranges add to the head. */
interface Open {
  ranges: number;
  rows: number;
  sum: bigint;
}

/** Counts a range in, or out again, if it is open. */
const count = (open: Open, { digest, rows, sum = 0n }: Range, sign: 1 | -1): void => {
  if (digest !== OPEN) return;
  open.ranges += sign;
  open.rows += sign * rows;
  open.sum += sign === 1 ? sum : -sum;
};

/** A range after a transaction, unless it has to be cut. */
const grown = (old: Range, { rows, sum, added }: Delta): Piece => {
  let last = old.last ?? old.after;
  for (const { name } of added) if (name > last) last = name;
  return { after: old.after, rows: old.rows + rows, sum: modulo((old.sum ?? 0n) + sum), last };
};

/** @param last the last name before these parts, if there is one in their range */
const partsOf = (begin: string, last: string, parts: ReadonlyArray<ReadonlyArray<Member>>): ReadonlyArray<Piece> => {
  let after = begin;
  let before = last;
  return parts.map((part) => {
    if (before !== "") after = between(before, part[0]?.name ?? "");
    before = part.at(-1)?.name ?? "";
    return { after, rows: part.length, sum: sumOf(part), last: before };
  });
};

const byName = (left: Member, right: Member): number => (left.name < right.name ? -1 : 1);

export class RangedRows {
  readonly found: Found;
  readonly #ports: RangedPorts;
  readonly #ranges: Ranges;
  #fault: IntegrityFailure | undefined;
  #isWhole = false;
  #unneeded: Array<number> = [];
  #open: Open = { ranges: 0, rows: 0, sum: 0n };

  /**
   * Throws {@link IntegrityFailure} where all rows were looked at, and do not hold together.
   *
   * @param ranges proven as a whole; those without a sum have not been looked at
   */
  constructor(ports: RangedPorts, ranges: ReadonlyArray<Range>) {
    this.found = ports.found;
    this.#ports = ports;
    this.#ranges = new Ranges(ranges);
    for (const range of ranges) count(this.#open, range, 1);
    if (this.#ranges.unproven("") === undefined) this.#end();
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
    if (this.#isWhole) return;
    this.#prove(this.#ranges.at(nameOf(table, key)));
  }

  /** Proves all rows of a table above `after`, up to and with `upTo` or to its end, and that there are no others. */
  proveBetween(table: TableName, after: string, upTo: string | undefined): void {
    if (this.#isWhole) return;
    for (const range of this.#between(table, after, upTo)) this.#prove(range);
  }

  /** Proves what was read at the start, which must not differ now; pauses after every range. Returns what differs. */
  *proveStart(
    read: ReadAtStart | undefined,
    tables: ReadonlyArray<TableName>,
    comparison: Comparison | undefined,
  ): Generator<Verified, string | undefined> {
    const needed = new Set(tables.flatMap((table) => this.#between(table, "", undefined)));
    for (const { table, after, upTo } of read?.pages ?? [])
      for (const range of this.#between(table, after, upTo)) needed.add(range);
    // A seal behind the last one was not written by this peer, or with a head that is gone.
    needed.add(this.#ranges.at(nameOf("seals", numberKey(this.#ports.newest() + 1))));
    for (const { table, key } of read?.keys ?? []) needed.add(this.#ranges.at(nameOf(table, key)));
    let rows = [...needed].reduce((sum, range) => sum + (range.sum === undefined ? 0 : range.rows), 0);
    const of = [...needed].reduce((sum, range) => sum + range.rows, 0);
    yield { rows, of };
    for (const range of needed) {
      if (range.sum === undefined)
        rows += this.#ports.proof.prove(range, this.#ranges.end(range), this.#ports.newest(), this.found, comparison);
      yield { rows, of };
    }
    return comparison?.difference();
  }

  /** Proves all that is not proven yet, some rows at a time. Throws {@link IntegrityFailure}. */
  *rest(): Generator<Verified, void> {
    const of = this.#ranges.all.reduce((sum, { rows }) => sum + rows, 0);
    let rows = this.#ranges.all.reduce((sum, range) => sum + (range.sum === undefined ? 0 : range.rows), 0);
    for (let at = this.#ranges.unproven(""); at !== undefined; at = this.#ranges.unproven(at.after)) {
      for (const read of this.#proving(at)) yield { rows: rows + read, of: Math.max(rows + read, of) };
      if (at.sum !== undefined) rows += at.rows;
      yield { rows, of: Math.max(rows, of) };
    }
    if (!this.#isWhole) this.#end();
  }

  /**
   * Proves a range with pauses. It is left as it is where somebody could not wait for it and has proven it meanwhile,
   * which comes before any change of its rows, or where its end has moved.
   */
  *#proving(range: Range): Generator<number, void> {
    const end = this.#ranges.end(range);
    const proving = this.#ports.proof.proving(range, end, this.#ports.newest(), this.found);
    for (;;) {
      const slice = this.#noting(() => proving.next());
      if (slice.done === true) return;
      yield slice.value;
      if (range.sum !== undefined || this.#ranges.end(range) !== end) return;
    }
  }

  /** Once all rows were looked at. Throws {@link IntegrityFailure}. */
  #end(): void {
    const { unsealed, unneeded } = this.found.uses;
    if (unsealed !== undefined) {
      this.#fault = new IntegrityFailure(`seals/${numberKey(unsealed)}`, "it is missing, and rows need it");
      throw this.#fault;
    }
    const newest = this.#ports.newest();
    this.#unneeded = unneeded.filter((number) => number !== newest);
    this.#isWhole = true;
  }

  /** Takes note of seals that no row needs any more, once all rows were looked at. */
  leave(seals: ReadonlyArray<number>): void {
    if (this.#isWhole) this.#unneeded.push(...seals);
  }

  /** Some seals that no row needs any more, left from before it was known how many need them: none comes to need them. */
  takeUnneeded(): ReadonlyArray<number> {
    return this.#unneeded.splice(0, UNNEEDED_AT_ONCE);
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
      let delta = deltas.get(range);
      if (delta === undefined) {
        delta = { rows: 0, sum: 0n, removed: [], added: [] };
        deltas.set(range, delta);
      }
      if (removed !== undefined) {
        delta.rows -= 1;
        delta.sum -= removed;
        delta.removed.push({ name, element: removed });
      }
      if (added === undefined) continue;
      delta.rows += 1;
      delta.sum += added;
      delta.added.push({ name, element: added });
    }
    const replacements: Array<Replacement> = [];
    const open = { ...this.#open };
    for (const [old, delta] of deltas) {
      const pieces = this.#pieces(transaction, old, delta, open.ranges);
      replacements.push({ old, pieces });
      count(open, old, -1);
      for (const each of pieces) count(open, each, 1);
    }
    if (transaction % CLOSED_EVERY === 0)
      for (const old of this.#ranges.all) {
        if (old.digest !== OPEN || old.changedIn > transaction - CLOSED_EVERY || deltas.has(old)) continue;
        const closed = rangeOf(this.#ports, grown(old, UNCHANGED), old.changedIn);
        replacements.push({ old, pieces: [{ ...closed, cutting: old.cutting }] });
        count(open, old, -1);
      }
    open.sum = modulo(open.sum);
    const { changes, chain, done } = stored.write(transaction, replacements, this.#ranges.all.length, () =>
      this.#ranges.with(replacements),
    );
    return {
      changes,
      digest: openDigestOf(crypto, integrity, { transactions: transaction, rows, open: open.rows, sum: open.sum }),
      chain,
      done: () => {
        done();
        this.#ranges.apply(replacements);
        this.#open = open;
      },
    };
  }

  #pieces(transaction: number, old: Range, delta: Delta, open: number): Replacement["pieces"] {
    const { newest, proof, sizes } = this.#ports;
    const { most } = sizes;
    const piece = grown(old, delta);
    if (piece.rows === 0 && old.after !== "") return [];
    if (piece.rows <= most)
      return [{ ...this.#made(transaction, old, piece, open), cutting: this.#cutting(old, delta, piece) }];
    const appended = this.#appended(transaction, old, piece, delta.added.toSorted(byName));
    if (appended !== undefined) return appended;
    const { pieces } = this.#cutting(old, delta, piece) ?? unread(old.after);
    const filled = pieces.filter(({ after, rows }) => rows > 0 || after === "");
    const small = filled.flatMap((each, at) =>
      each.rows <= most ? [each] : refined(each, filled[at + 1]?.after, delta, this.#reading(old), sizes.piece),
    );
    const all = joined(small);
    if (all?.rows !== piece.rows || all.sum !== piece.sum)
      return this.#noting(() => {
        throw proof.fault(old, this.#ranges.end(old), newest(), old.rows + (all?.rows ?? 0) - piece.rows);
      });
    return cut(small, most).map((part) => rangeOf(this.#ports, part, transaction));
  }

  /** Reads on in a range that has little room left, unless it only grows at its end: there it is cut unread. */
  #cutting(old: Range, delta: Delta, { rows }: Piece): Cutting | undefined {
    const { after: begin, cutting = unread(begin), last = begin } = old;
    const room = this.#ports.sizes.most - rows;
    const isWithin = room < 0 || delta.added.some(({ name }) => name <= last);
    const due = isWithin ? rowsDue(cutting, old.rows, room, delta.added.length) : 0;
    if (due <= 0 && old.cutting === undefined) return undefined;
    return changedBy(delta, begin, readOn(cutting, begin, due, this.#reading(old)));
  }

  /** Reads rows of a range, a piece at a time. */
  #reading(range: Range): Read {
    const { newest, proof, sizes } = this.#ports;
    const end = this.#ranges.end(range);
    return (above) => this.#noting(() => proof.part(above, end, newest(), sizes.piece));
  }

  /** In place of a range that is not cut: open as before, opened where that saves digests, or with a digest. */
  #made(transaction: number, old: Range, piece: Piece, open: number): Range {
    const isOpened = open < this.#ports.sizes.open && transaction - old.changedIn <= OPENED_WITHIN;
    if (old.digest !== OPEN && !isOpened) return rangeOf(this.#ports, piece, transaction);
    const { after, rows, sum, last } = piece;
    return { after, rows, digest: OPEN, sum, last, changedIn: transaction };
  }

  /** Of a table whose keys grow: what was there stays as it is, unread, and what is new follows it. */
  #appended(
    transaction: number,
    old: Range,
    { rows, sum }: Piece,
    added: ReadonlyArray<Member>,
  ): Replacement["pieces"] | undefined {
    const { most } = this.#ports.sizes;
    const first = added[0]?.name ?? "";
    const left = rows - added.length;
    if (old.last === undefined || first <= old.last || left > most || left * 2 < most) return undefined;
    if (tableOf(old.after) !== tableOf(old.last)) return undefined;
    const stays = { after: old.after, rows: left, sum: modulo(sum - sumOf(added)), last: old.last };
    const follow = partsOf(old.after, old.last, chunked(added, most));
    return [stays, ...follow].map((part) => rangeOf(this.#ports, part, transaction));
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
}
