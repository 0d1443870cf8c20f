/**
 * All rows of a store added up and held against its signed head: finds rows and seals that were changed, and rows that
 * were deleted, added or brought back from an older time.
 */
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { TableName } from "../core/Tables.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import type { ByteStore, StoredRow } from "./ByteStore.ts";
import { KnownRows } from "./KnownRows.ts";
import type { Comparison } from "./ReadAtStart.ts";
import type { RowOpener } from "./RowOpener.ts";
import { RowShares } from "./RowShares.ts";
import { SealUses } from "./SealUses.ts";

export const MODULUS = 1n << 256n;
/** Rows of one slice of a verification: a few milliseconds, in which no request is answered. */
const SCAN_PAGE = 256;

/** The progress of a verification: rows verified, of how many by the signed head and with the seals seen so far. */
export interface Verified {
  readonly rows: number;
  readonly of: number;
}

/**
 * The sum is over all rows but the head and the seal of the transaction that wrote it: that seal proves the head, and
 * is added by the next transaction.
 */
export interface Head {
  readonly transactions: number;
  /** All but the head and the seals. */
  readonly rows: number;
  readonly sum: bigint;
  /** Whether its own seal is a row, as it is unless an older program wrote it. */
  readonly hasSeal: boolean;
}

/** Which rows there are, and which seals they need, as a verification has found them. */
export interface Whole {
  readonly known: KnownRows;
  readonly uses: SealUses;
}

interface Stored {
  readonly bytes: ByteStore;
  readonly rows: RowOpener;
  readonly crypto: Crypto;
  /** All but that of the head. */
  readonly tables: ReadonlyArray<TableName>;
}

export class RowSum {
  readonly #stored: Stored;

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  /**
   * Adds up every row and its seal. Where the sum is not that of the head it goes through all rows once more, seal by
   * seal, to say where. Needs the integrity key. Returns where a row does not hold, or differs from what was read at
   * the start. It keeps no row and pauses after every page; nothing may be committed before it has ended. Throws
   * {@link IntegrityFailure} too.
   */
  *pages(head: Head, comparison: Comparison | undefined): Generator<Verified, Whole | string> {
    const { crypto, rows: opener, tables } = this.#stored;
    const { key: integrity } = opener.history.newest();
    const shares = new RowShares(crypto, opener, integrity);
    const known = new KnownRows(crypto, integrity.setKey);
    const uses = new SealUses();
    const newest = head.hasSeal ? numberKey(head.transactions) : undefined;
    let sum = 0n;
    let rows = 0;
    let seals = 0;
    let areSealed = true;
    yield { rows, of: head.rows };
    for (const table of tables)
      for (const page of this.#pagesOf(table)) {
        if (table === "seals") seals += page.length;
        for (const { key, value } of page) {
          // What proves the head was verified with it.
          if (table === "seals" && key === newest) {
            uses.start(head.transactions);
            continue;
          }
          const { element, sealedIn } = shares.of(table, key, value);
          sum += element;
          comparison?.tell(table, key, value);
          if (table === "seals") {
            // Else the sum will not be that of the head.
            if (sealedIn !== undefined && sealedIn <= head.transactions) uses.start(sealedIn);
            continue;
          }
          rows += 1;
          known.add(table, key);
          // The sum does not tell whether a row carried a proof of its own.
          if (sealedIn !== undefined && !uses.add(sealedIn, 1)) areSealed = false;
        }
        yield { rows: rows + seals, of: head.rows + seals };
      }
    if (!areSealed || rows !== head.rows || sum % MODULUS !== head.sum) return yield* this.#fault(rows, head.rows);
    return comparison?.difference() ?? { known, uses };
  }

  /** Where rows that do not add up to the head differ from what was written, told as exactly as can be. */
  *#fault(rows: number, of: number): Generator<Verified, string> {
    let opened = 0;
    for (const table of this.#stored.tables)
      for (const page of this.#pagesOf(table)) {
        for (const { key, value } of page) this.#stored.rows.open(table, key, value);
        opened += page.length;
        yield { rows: opened, of: Math.max(opened, of) };
      }
    return rows === of
      ? "the rows do not add up to the signed head"
      : `${Math.abs(rows - of)} rows are ${rows < of ? "missing" : "too many"}`;
  }

  #pagesOf(table: TableName): ReturnType<typeof pagesOf> {
    return pagesOf(this.#stored.bytes, table);
  }
}

/** All rows of a table, some at a time. */
export function* pagesOf(
  bytes: Pick<ByteStore, "scan">,
  table: TableName,
): Generator<ReadonlyArray<{ readonly key: string; readonly value: StoredRow }>> {
  for (let after = ""; ; ) {
    const page = bytes.scan(table, after, SCAN_PAGE);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < SCAN_PAGE) return;
    after = last.key;
  }
}
