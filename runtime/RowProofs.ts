/**
 * Rows that are not verified as a whole yet, at a peer that knows which there must be: a row is proven where it is read,
 * a table before it is scanned, and all rows a slice at a time while the peer writes.
 */
import type { TableName } from "../core/Tables.ts";
import type { ByteStore, StoredRow } from "./ByteStore.ts";
import { type KnownRows, printOf } from "./KnownRows.ts";
import { IntegrityFailure } from "./PeerStore.ts";

/** Rows of one slice of a verification: a few milliseconds, in which no request is answered. */
const SCAN_PAGE = 64;

/** Keys are ASCII. */
const BEHIND_ALL = "\u{80}";

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

/** What a transaction does to one row: its elements before and after, undefined where there is no row. */
export interface RowChange {
  readonly table: TableName;
  readonly key: string;
  readonly before: bigint | undefined;
  readonly after: bigint | undefined;
}

export interface ProofPorts {
  readonly bytes: Pick<ByteStore, "scan">;
  readonly known: KnownRows;
  /** All tables that are added up. */
  readonly tables: ReadonlyArray<TableName>;
  /** The element of a row as it lies there. Throws {@link IntegrityFailure} where it cannot be told. */
  readonly elementOf: (table: TableName, key: string, stored: StoredRow) => bigint;
  /** Throws {@link IntegrityFailure} where the seal of a row does not hold. */
  readonly open: (table: TableName, key: string, stored: StoredRow) => void;
}

const nameOf = (table: TableName, key: string): string => `${table}/${key}`;

/** Seals are no rows that anybody knows the number of: they are proven by their signatures, and with the sum. */
const isCounted = (table: TableName): boolean => table !== "seals";

export class RowProofs {
  readonly #ports: ProofPorts;
  /** Tables in which no row is missing, and none too many. */
  readonly #proven = new Set<TableName>();
  /** The rows that the transaction under way changes: readers may see them before it has ended, and after. */
  #pending = new Map<string, RowChange>();
  /** How far {@link pages} is: tables that are done, the one under way, and the last key looked at there. */
  readonly #walked = new Set<TableName>();
  #walking: TableName | undefined;
  #upTo = "";
  /** Of the rows that were walked over, without those of the transaction under way. */
  #sum = 0n;
  #rows = 0;
  #inTable = 0;

  constructor(ports: ProofPorts) {
    this.#ports = ports;
  }

  /**
   * Proves what a read has found, undefined for nothing: it is what was written there last.
   *
   * Throws {@link IntegrityFailure} where it is not.
   */
  assertRow(table: TableName, key: string, element: bigint | undefined): void {
    const print = element && printOf(element);
    const known = this.#ports.known.printAt(table, key);
    if (print === known) return;
    const pending = this.#pending.get(nameOf(table, key));
    if (pending !== undefined && [pending.before, pending.after].some((each) => (each && printOf(each)) === print))
      return;
    throw new IntegrityFailure(
      nameOf(table, key),
      print === undefined
        ? "the row is missing"
        : known === undefined
          ? "no such row was left there"
          : "it is not the row that was written last",
    );
  }

  /** Proves a whole table, at once, unless that was done. Throws {@link IntegrityFailure}. */
  assertTable(table: TableName): void {
    if (this.#proven.has(table) || !isCounted(table)) return;
    let rows = 0;
    for (const page of pagesOf(this.#ports.bytes, table))
      for (const { key, value } of page) {
        this.#assertStored(table, key, value);
        if (!this.#pending.has(nameOf(table, key))) rows += 1;
      }
    this.#assertCount(table, rows);
  }

  /** A transaction is on its way to the disk. */
  begin(changes: ReadonlyArray<RowChange>): void {
    this.#pending = new Map(changes.map((change) => [nameOf(change.table, change.key), change]));
    for (const { table, key, before } of changes) if (before !== undefined) this.#addIfWalked(table, key, -before);
  }

  /** It is there, and in what is known. */
  end(): void {
    for (const { table, key, after } of this.#pending.values())
      if (after !== undefined) this.#addIfWalked(table, key, after);
    this.#pending = new Map();
  }

  /**
   * Walks over all rows, and pauses after every page; anything may be read and written meanwhile. Returns the sum of
   * their elements, as they were before the transaction under way. Throws {@link IntegrityFailure}.
   */
  *pages(): Generator<number, bigint> {
    for (const table of this.#ports.tables) {
      this.#walking = table;
      this.#upTo = "";
      this.#inTable = 0;
      for (const page of pagesOf(this.#ports.bytes, table)) {
        for (const { key, value } of page) this.#walkOver(table, key, value);
        // Nothing more is looked for in this table: what comes now comes behind.
        if (page.length < SCAN_PAGE) this.#upTo = BEHIND_ALL;
        const walked = this.#rows;
        yield walked;
      }
      this.#walked.add(table);
      this.#walking = undefined;
      if (isCounted(table)) this.#assertCount(table, this.#inTable);
    }
    let sum = this.#sum;
    for (const { before } of this.#pending.values()) sum += before ?? 0n;
    return sum;
  }

  #walkOver(table: TableName, key: string, value: StoredRow): void {
    this.#upTo = key;
    if (this.#pending.has(nameOf(table, key))) return;
    this.#sum += isCounted(table) ? this.#assertStored(table, key, value) : this.#ports.elementOf(table, key, value);
    this.#rows += 1;
    this.#inTable += 1;
  }

  #assertStored(table: TableName, key: string, stored: StoredRow): bigint {
    const element = this.#ports.elementOf(table, key, stored);
    try {
      this.assertRow(table, key, element);
    } catch (fault) {
      // Says what is wrong with the row itself, where something is.
      this.#ports.open(table, key, stored);
      throw fault;
    }
    return element;
  }

  /** @param rows those there that the transaction under way leaves alone */
  #assertCount(table: TableName, rows: number): void {
    let there = rows;
    for (const change of this.#pending.values()) if (change.table === table && change.before !== undefined) there += 1;
    const wanted = this.#ports.known.counts.get(table) ?? 0;
    if (there !== wanted) throw new IntegrityFailure(table, `${Math.abs(wanted - there)} rows are missing`);
    this.#proven.add(table);
  }

  #addIfWalked(table: TableName, key: string, element: bigint): void {
    const isWalking = this.#walking === table && key <= this.#upTo;
    if (!isWalking && !this.#walked.has(table)) return;
    const rows = element < 0n ? -1 : 1;
    this.#sum += element;
    this.#rows += rows;
    if (isWalking) this.#inTable += rows;
  }
}
