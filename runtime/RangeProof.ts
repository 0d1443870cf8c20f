/**
 * Looks at all rows of one range and holds them against its digest: finds rows that were changed, and rows that were
 * deleted, added or brought back from an older time, and so proves each row, each absence and each page in it.
 */
import type { Crypto } from "../core/crypto/Crypto.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import type { TableName } from "../core/Tables.ts";
import type { ByteStore, StoredRow } from "./ByteStore.ts";
import type { KnownRows } from "./KnownRows.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { endOf, type Member, modulo, nameOf, type Range } from "./Ranges.ts";
import type { Comparison } from "./ReadAtStart.ts";
import type { RowOpener } from "./RowOpener.ts";
import { type IntegrityKey, rangeDigestOf } from "./RowSeal.ts";
import { RowShares, type Share } from "./RowShares.ts";
import type { SealUses } from "./SealUses.ts";

/** Rows read at once. */
const SCAN_PAGE = 256;

export interface Stored {
  readonly bytes: Pick<ByteStore, "scan">;
  readonly rows: RowOpener;
  readonly crypto: Crypto;
  /** Those whose rows are in ranges, sorted. */
  readonly tables: ReadonlyArray<TableName>;
}

/** Which rows there are, and which seals they need, as far as that is proven. */
export interface Found {
  readonly known: KnownRows;
  readonly uses: SealUses;
}

interface Row {
  readonly table: TableName;
  readonly key: string;
  readonly value: StoredRow;
}

/** The rows of a range as they lie there, believed or not. */
interface Look {
  readonly range: Range;
  readonly seen: ReadonlyArray<Row & Share>;
  readonly sum: bigint;
}

/** All rows of a table, some at a time. */
export function* pagesOf(
  bytes: Pick<ByteStore, "scan">,
  table: TableName,
  from = "",
  most = SCAN_PAGE,
): Generator<ReadonlyArray<{ readonly key: string; readonly value: StoredRow }>> {
  const limit = Math.min(most, SCAN_PAGE);
  for (let after = from; ; ) {
    const page = bytes.scan(table, after, limit);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = last.key;
  }
}

/** What a range is called where its rows do not hold: table and key only. */
const placeOf = ({ after }: Range): string => (after === "" ? "the first rows" : `the rows after ${after}`);

/** Goes on without a pause. */
export const ended = <A>(pages: Generator<unknown, A>): A => {
  let page = pages.next();
  while (page.done !== true) page = pages.next();
  return page.value;
};

export class RangeProof {
  readonly #stored: Stored;
  readonly #integrity: IntegrityKey;
  readonly #shares: RowShares;
  readonly #slice: number;

  /**
   * @param integrity the key in use, while it is
   * @param slice rows that are read at once, after which a proof pauses
   */
  constructor(stored: Stored, integrity: IntegrityKey, slice: number) {
    this.#stored = stored;
    this.#integrity = integrity;
    this.#slice = slice;
    this.#shares = new RowShares(stored.crypto, stored.rows, integrity);
  }

  /**
   * Proves a range that no transaction under way changes, and takes note of what is there.
   *
   * @param end where it ends
   * @param newest the last transaction, whose own seal is in no range yet
   * @returns how many rows were read. Throws {@link IntegrityFailure}.
   */
  prove(range: Range, end: string | undefined, newest: number, found: Found, comparison?: Comparison): number {
    return ended(this.proving(range, end, newest, found, comparison));
  }

  /** {@link prove}, with pauses, in which neither the range nor its end may change; yields the rows read so far. */
  *proving(
    range: Range,
    end: string | undefined,
    newest: number,
    found: Found,
    comparison?: Comparison,
  ): Generator<number, number> {
    const { after, rows, digest } = range;
    const look = yield* this.#look(range, end, newest, rows);
    const { seen, sum } = look;
    if (seen.length !== rows || rangeDigestOf(this.#stored.crypto, this.#integrity, after, rows, sum) !== digest)
      throw this.fault(range, end, newest, seen.length);
    this.#believe(look, found, comparison);
    return seen.length;
  }

  /**
   * Proves the open ranges together; pauses now and then.
   *
   * @param ends where each of them ends
   * @param most rows there can be
   * @param holds whether the head has so many rows and this sum of theirs
   */
  *proveOpen(
    ranges: ReadonlyArray<readonly [Range, string | undefined]>,
    newest: number,
    most: number,
    holds: (rows: number, sum: bigint) => boolean,
    { found, comparison }: { readonly found: Found; readonly comparison: Comparison | undefined },
  ): Generator<number, ReadonlyArray<Range>> {
    const looks: Array<Look> = [];
    let rows = 0;
    for (const [range, end] of ranges) {
      const looking = this.#look(range, end, newest, most - rows);
      let page = looking.next();
      for (; page.done !== true; page = looking.next()) yield rows + page.value;
      looks.push(page.value);
      rows += page.value.seen.length;
      yield rows;
    }
    if (!holds(rows, modulo(looks.reduce((sum, look) => sum + look.sum, 0n)))) {
      for (const { seen } of looks) for (const { table, key, value } of seen) this.#stored.rows.open(table, key, value);
      throw new IntegrityFailure("head/self", "rows are missing, too many, or not those that it was signed for");
    }
    for (const look of looks) this.#believe(look, found, comparison);
    return looks.map(({ range, seen }) => ({ ...range, rows: seen.length }));
  }

  *#look(range: Range, end: string | undefined, newest: number, rows: number): Generator<number, Look> {
    const seen: Array<Row & Share> = [];
    let sum = 0n;
    for (const row of this.#rowsIn(range.after, end, newest, rows)) {
      const share = this.#shares.of(row.table, row.key, row.value);
      sum += share.element;
      seen.push({ ...row, ...share });
      if (seen.length > rows) break;
      if (seen.length % this.#slice === 0) yield seen.length;
    }
    return { range, seen, sum: modulo(sum) };
  }

  /** Only what holds: a number that somebody planted must not be counted with. */
  #believe({ range, seen, sum }: Look, found: Found, comparison: Comparison | undefined): void {
    for (const { table, key, value, sealedIn } of seen) {
      comparison?.tell(table, key, value);
      if (table === "seals") {
        if (sealedIn !== undefined) found.uses.start(sealedIn);
        continue;
      }
      found.known.add(table, key);
      if (sealedIn !== undefined) found.uses.add(sealedIn, 1);
    }
    // What proves the head is in no range; what the start has read of it was read with the head.
    range.sum = sum;
    const last = seen.at(-1);
    range.last = last === undefined ? range.after : nameOf(last.table, last.key);
  }

  /** The first rows above a name, all of one table, at most so many; none where there are no more until `end`. */
  part(above: string, end: string | undefined, newest: number, most: number): ReadonlyArray<Member> {
    const members: Array<Member> = [];
    let only: TableName | undefined;
    for (const { table, key, value } of this.#rowsIn(above, end, newest, most)) {
      only ??= table;
      if (table !== only) break;
      members.push({ name: nameOf(table, key), element: this.#shares.of(table, key, value).element });
      if (members.length === most) break;
    }
    return members;
  }

  *#rowsIn(after: string, end: string | undefined, newest: number, expected: number): Generator<Row> {
    let left = expected;
    for (const table of this.#stored.tables) {
      const prefix = nameOf(table, "");
      if (endOf(table) <= after || (end !== undefined && prefix > end)) continue;
      const from = after.startsWith(prefix) ? after.slice(prefix.length) : "";
      // The seal of the last transaction, and the one that shows where the range ends.
      for (const page of pagesOf(this.#stored.bytes, table, from, Math.min(Math.max(0, left) + 2, this.#slice))) {
        let isOver = false;
        for (const { key, value } of page) {
          isOver = end !== undefined && prefix + key > end;
          if (isOver) break;
          if (table === "seals" && key === numberKey(newest)) continue;
          left -= 1;
          yield { table, key, value };
        }
        if (isOver) break;
      }
    }
  }

  /** How rows differ from what was written, told as exactly as can be. */
  fault(range: Range, end: string | undefined, newest: number, rows: number): IntegrityFailure {
    if (rows <= range.rows)
      for (const { table, key, value } of this.#rowsIn(range.after, end, newest, range.rows))
        this.#stored.rows.open(table, key, value);
    const differing = range.rows - rows;
    const why =
      differing === 0
        ? "they are not those that were written last"
        : differing > 0
          ? `${differing} rows are missing`
          : "there are too many";
    return new IntegrityFailure(placeOf(range), why);
  }
}
