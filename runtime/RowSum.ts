/**
 * All rows of a store added up and held against a head from before there were ranges, which has their sum: it is read
 * once, and cut into ranges on the way (docs/decisions/0048-ranges.md).
 */
import type { TableName } from "../core/Tables.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import { KnownRows } from "./KnownRows.ts";
import { type Found, pagesOf, type Stored } from "./RangeProof.ts";
import { between, modulo, nameOf } from "./Ranges.ts";
import type { Comparison } from "./ReadAtStart.ts";
import type { IntegrityKey } from "./RowSeal.ts";
import { RowShares } from "./RowShares.ts";
import { SealUses } from "./SealUses.ts";

/** The progress of a verification: rows verified, of how many, as far as that is known. */
export interface Verified {
  readonly rows: number;
  readonly of: number;
}

/**
 * The sum is over all rows but the head and the seal of the transaction that wrote it: that seal proves the head, and
 * is added by the next transaction.
 */
export interface FirstHead {
  readonly transactions: number;
  /** All but the head and the seals. */
  readonly rows: number;
  readonly sum: bigint;
  /** Whether its own seal is a row, as it is unless an older program wrote it. */
  readonly hasSeal: boolean;
}

/** Rows that lie beside each other. */
export interface Piece {
  readonly after: string;
  readonly rows: number;
  readonly sum: bigint;
  /** No name in it is above this one. */
  readonly last: string;
}

/** Cuts rows, told in their order, into pieces. */
class Pieces {
  readonly #most: number;
  readonly #done: Array<Piece> = [];
  #after = "";
  #rows = 0;
  #sum = 0n;
  #last = "";
  #table: TableName | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  add(table: TableName, key: string, element: bigint): void {
    const name = nameOf(table, key);
    // A table's rows are by themselves where they are many, so that it grows by itself.
    if (this.#rows >= this.#most || (table !== this.#table && this.#rows * 4 >= this.#most)) this.#end(name);
    this.#table = table;
    this.#last = name;
    this.#rows += 1;
    this.#sum += element;
  }

  get all(): ReadonlyArray<Piece> {
    return [...this.#done, this.#piece];
  }

  get #piece(): Piece {
    return { after: this.#after, rows: this.#rows, sum: modulo(this.#sum), last: this.#last };
  }

  #end(next: string): void {
    this.#done.push(this.#piece);
    this.#after = between(this.#last, next);
    this.#rows = 0;
    this.#sum = 0n;
  }
}

/**
 * Adds up every row and its seal. Where the sum is not that of the head it goes through all rows once more, seal by
 * seal, to say where. Needs the integrity key. Returns where a row does not hold, or differs from what was read at
 * the start. It keeps no row and pauses after every page; nothing may be committed before it has ended. Throws
 * IntegrityFailure too.
 *
 * @param most rows of a piece
 */
export function* addedUp(
  stored: Stored,
  integrity: IntegrityKey,
  head: FirstHead,
  comparison: Comparison | undefined,
  most: number,
): Generator<Verified, (Found & { readonly pieces: ReadonlyArray<Piece> }) | string> {
  const { bytes, crypto, rows: opener, tables } = stored;
  const shares = new RowShares(crypto, opener, integrity);
  const known = new KnownRows(crypto, integrity.setKey);
  const uses = new SealUses();
  const pieces = new Pieces(most);
  const newest = head.hasSeal ? numberKey(head.transactions) : undefined;
  let sum = 0n;
  let rows = 0;
  let seals = 0;
  let isTimely = true;
  yield { rows, of: head.rows };
  for (const table of tables)
    for (const page of pagesOf(bytes, table)) {
      for (const { key, value } of page) {
        if (table === "seals") seals += 1;
        else rows += 1;
        // What proves the head was verified with it.
        if (table === "seals" && key === newest) {
          uses.start(head.transactions);
          continue;
        }
        const { element, sealedIn } = shares.of(table, key, value);
        sum += element;
        comparison?.tell(table, key, value);
        pieces.add(table, key, element);
        if (table !== "seals") known.add(table, key);
        if (sealedIn === undefined) continue;
        // A number that somebody planted must not be counted with.
        if (sealedIn > head.transactions) isTimely = false;
        else if (table === "seals") uses.start(sealedIn);
        else uses.add(sealedIn, 1);
      }
      yield { rows: rows + seals, of: head.rows + seals };
    }
  // The sum does not tell whether a row carried a proof of its own.
  const isSealed = isTimely && uses.unsealed === undefined;
  if (!isSealed || rows !== head.rows || modulo(sum) !== head.sum) return yield* fault(stored, rows, head.rows);
  return comparison?.difference() ?? { known, uses, pieces: pieces.all };
}

/** Where rows that do not add up to the head differ from what was written, told as exactly as can be. */
function* fault({ bytes, rows: opener, tables }: Stored, rows: number, of: number): Generator<Verified, string> {
  let opened = 0;
  for (const table of tables)
    for (const page of pagesOf(bytes, table)) {
      for (const { key, value } of page) opener.open(table, key, value);
      opened += page.length;
      yield { rows: opened, of: Math.max(opened, of) };
    }
  return rows === of
    ? "the rows do not add up to the signed head"
    : `${Math.abs(rows - of)} rows are ${rows < of ? "missing" : "too many"}`;
}
