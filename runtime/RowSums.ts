/**
 * The first verification of all rows: adds up every row and its seal and compares the sum with the signed head. That
 * finds rows and seals that were changed, and rows that were deleted, added or brought back from an older time. Nothing
 * may be written before it has ended.
 */
import type { Digest } from "../core/base/Digest.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import type { TableName } from "../core/Tables.ts";
import type { ByteStore, StoredRow } from "./ByteStore.ts";
import type { Knowledge } from "./CheckpointLog.ts";
import { KnownRows } from "./KnownRows.ts";
import type { RowOpener } from "./RowOpener.ts";
import { pagesOf } from "./RowProofs.ts";
import { SealUses } from "./SealUses.ts";

const MODULUS = 1n << 256n;

export const modulo = (value: bigint): bigint => ((value % MODULUS) + MODULUS) % MODULUS;

export const asDigest = (sum: bigint): Digest => sum.toString(16).padStart(64, "0") as Digest;

/** The progress of a verification: rows verified, of how many by the signed head and with the seals seen so far. */
export interface Verified {
  readonly rows: number;
  readonly of: number;
}

/** A row's share of the sum, and which seal it needs. */
export interface Share {
  readonly element: bigint;
  readonly sealedIn: number | undefined;
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

export interface SumPorts {
  readonly bytes: ByteStore;
  readonly crypto: Crypto;
  readonly setKey: Uint8Array;
  /** Seals first, which the rows of the others need. */
  readonly tables: ReadonlyArray<TableName>;
  readonly shareOf: (table: TableName, key: string, stored: StoredRow) => Share;
  readonly opener: RowOpener;
}

/** Says which rows there are, or where something does not hold. Throws {@link IntegrityFailure} where that is a row. */
export function* addUp(ports: SumPorts, head: Head): Generator<Verified, Knowledge | string> {
  const { bytes, crypto, setKey, tables, shareOf } = ports;
  const known = new KnownRows(crypto, setKey);
  const uses = new SealUses();
  const newest = head.hasSeal ? numberKey(head.transactions) : undefined;
  let sum = 0n;
  let rows = 0;
  let seals = 0;
  let areSealed = true;
  yield { rows, of: head.rows };
  for (const table of tables)
    for (const page of pagesOf(bytes, table)) {
      if (table === "seals") seals += page.length;
      for (const { key, value } of page) {
        // What proves the head was verified with it.
        if (table === "seals" && key === newest) {
          uses.start(head.transactions);
          continue;
        }
        const { element, sealedIn } = shareOf(table, key, value);
        sum += element;
        if (table === "seals") {
          // Else the sum will not be that of the head.
          if (sealedIn !== undefined && sealedIn <= head.transactions) uses.start(sealedIn);
          continue;
        }
        rows += 1;
        known.set(table, key, element);
        // The sum does not tell whether a row carried a proof of its own.
        if (sealedIn !== undefined && !uses.add(sealedIn, 1)) areSealed = false;
      }
      yield { rows: rows + seals, of: head.rows + seals };
    }
  if (!areSealed || rows !== head.rows || sum % MODULUS !== head.sum) return yield* faultPages(ports, rows, head.rows);
  return { known, uses };
}

/** Where rows that do not add up to the head differ from what was written, told as exactly as can be: seal by seal. */
function* faultPages(
  { bytes, tables, opener }: Pick<SumPorts, "bytes" | "tables" | "opener">,
  rows: number,
  of: number,
): Generator<Verified, string> {
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
