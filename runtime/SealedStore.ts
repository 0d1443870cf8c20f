/**
 * The peer's store over any byte store: rows are encoded and sealed on their way
 * down, decoded and verified on their way up. A row that does not hold never
 * reaches the core.
 */
import { encode } from "../core/codec/CborWriter.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest } from "../core/base/Digest.ts";
import { type Rows, type RowView, type TableName, tables, type Write } from "../core/Tables.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { numberKey, SELF } from "../core/protocol/Tables.ts";
import { type ByteStore, type Change, type StoredRow, StoreFailure } from "./ByteStore.ts";
import type { KeyHistory } from "./KeyHistory.ts";
import { KnownRows } from "./KnownRows.ts";
import { OpenedRows } from "./OpenedRows.ts";
import { IntegrityFailure, type KeyView, type PeerStore } from "./PeerStore.ts";
import { RecentMap } from "./RecentMap.ts";
import { RowOpener } from "./RowOpener.ts";
import { elementOf, type IntegrityKey, leafOf, maskOf, type PlainRow, sealCodec, sealRows } from "./RowSeal.ts";
import { SealUses } from "./SealUses.ts";

const MODULUS = 1n << 256n;
/** Rows of one slice of a verification: a few milliseconds, in which no request is answered. */
const SCAN_PAGE = 64;
/** Elements of recently written rows: most rows that change were written a moment ago. */
const REMEMBERED = 8192;

/** The progress of a verification: rows verified, of how many by the signed head and with the seals seen so far. */
export interface Verified {
  readonly rows: number;
  readonly of: number;
}

/** A row's share of the sum, and which seal it needs. */
interface Share {
  readonly element: bigint;
  readonly sealedIn: number | undefined;
}

/**
 * The sum is over all rows but the head and the seal of the transaction that wrote it: that seal proves the head, and
 * is added by the next transaction.
 */
interface Head {
  readonly transactions: number;
  /** All but the head and the seals. */
  readonly rows: number;
  readonly sum: bigint;
  /** Whether its own seal is a row, as it is unless an older program wrote it. */
  readonly hasSeal: boolean;
}

const EMPTY: Head = { transactions: 0, rows: 0, sum: 0n, hasSeal: false };

const NONE: ReadonlySet<number> = new Set();

const modulo = (value: bigint): bigint => ((value % MODULUS) + MODULUS) % MODULUS;

const asDigest = (sum: bigint): Digest => sum.toString(16).padStart(64, "0") as Digest;

export class SealedStore implements PeerStore, KeyView {
  readonly #bytes: ByteStore;
  readonly #crypto: Crypto;
  readonly #schema: Schema;
  /** All but that of the head; seals first, which the rows of the others need. */
  readonly #tables: ReadonlyArray<TableName>;
  readonly #shares = new RecentMap<Share>(REMEMBERED);
  readonly #rows: RowOpener;
  readonly #history: KeyHistory;
  readonly #opened = new OpenedRows();
  #head: Head | undefined;
  /** From the end of a verification on, for as long as the keys are in use. */
  #known: KnownRows | undefined;
  /** The same of the seals that rows need. */
  #uses: SealUses | undefined;

  constructor(bytes: ByteStore, crypto: Crypto, schema = tables) {
    this.#bytes = bytes;
    this.#crypto = crypto;
    this.#schema = schema;
    const others = (schema.names as ReadonlyArray<TableName>).filter((table) => table !== "head" && table !== "seals");
    this.#tables = ["seals", ...others];
    this.#rows = new RowOpener(bytes, crypto, schema);
    this.#history = this.#rows.history;
  }

  /**
   * Brings the first integrity key into use (or takes all of them out) and says
   * which key the history begins with. Until the first call that is the key that
   * the peer row itself names, which `verifyAll` then confirms or refutes.
   */
  useKey(integrity: IntegrityKey | undefined): void {
    this.#history.use(integrity);
    this.#shares.clear();
    this.#opened.clear();
    this.#rows.forget();
    this.#known = undefined;
    this.#uses = undefined;
  }

  /** Brings a later integrity key into memory; it is in use once a stored row of the history names it. */
  addKey(integrity: IntegrityKey): void {
    this.#history.add(integrity);
  }

  /** A row; once all are verified, a missing one throws, just as one whose seal does not hold. */
  get<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    const stored = this.#bytes.get(table, key);
    const opened = stored && this.#rows.openCurrent(table, key, stored);
    return opened === undefined ? this.#absent(table, key) : opened.value;
  }

  /** This store for callers who ask for the same rows often: a seal is verified once for the bytes that lie there. */
  readonly recalling: RowView & KeyView = {
    get: (table, key) => this.#recall(table, key),
    scan: (table, after, limit) => this.scan(table, after, limit),
    keys: (table, from, limit) => this.keys(table, from, limit),
  };

  #recall<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    const stored = this.#bytes.get(table, key);
    if (stored === undefined) return this.#absent(table, key);
    const recalled = this.#opened.get(table, key, stored);
    if (recalled !== undefined) return recalled;
    const opened = this.#rows.openCurrent(table, key, stored);
    if (opened === undefined) return this.#absent(table, key);
    this.#opened.set(table, key, opened.stored, opened.value);
    return opened.value;
  }

  #absent(table: TableName, key: string): undefined {
    if (this.#known?.has(table, key) === true) throw new IntegrityFailure(`${table}/${key}`, "the row is missing");
  }

  scan<T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> {
    return this.#bytes.scan(table, after, limit).flatMap(({ key, value }) => this.#shown(table, key, value));
  }

  /** A row of a page; none where it has gone meanwhile. */
  #shown<T extends TableName>(table: T, key: string, stored: StoredRow) {
    const opened = this.#rows.openCurrent(table, key, stored);
    return opened === undefined ? [] : [{ key, row: opened.value }];
  }

  keys(table: TableName, from: string, limit: number): ReadonlyArray<string> {
    return this.#bytes.keys(table, from, limit);
  }

  commit(writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void): void {
    const { version, key: integrity } = this.#history.newest();
    const before = this.#headNow();
    const transaction = before.transactions + 1;
    let { sum, rows } = before;
    const plain: Array<PlainRow> = [];
    const leaves: Array<Digest> = [];
    const removals: Array<Change> = [];
    const added: Array<readonly [string, Share]> = [];
    const released: Array<number | undefined> = [];
    for (const write of writes) {
      const { table, key } = write;
      if (write.op !== "insert") {
        const { element, sealedIn } = this.#shareOnDisk(table, key);
        sum -= element;
        released.push(sealedIn);
      }
      if (write.op === "insert") rows += 1;
      if (write.op === "remove") {
        rows -= 1;
        removals.push({ op: "remove", table, key });
        continue;
      }
      const row = { table, key, row: encode(this.#schema.codecOf(table), write.row) };
      const leaf = leafOf(this.#crypto, transaction, row);
      const element = elementOf(this.#crypto, integrity, leaf);
      leaves.push(leaf);
      sum += element;
      added.push([nameOf(table, key), { element, sealedIn: transaction }]);
      plain.push(row);
    }
    const unused = this.#unusedAfter(released, before);
    if (before.hasSeal && !unused.has(before.transactions))
      sum += this.#shareOnDisk("seals", numberKey(before.transactions)).element;
    for (const number of unused) {
      const key = numberKey(number);
      // The newest seal is not in the sum yet.
      if (number !== before.transactions) sum -= this.#shareOnDisk("seals", key).element;
      removals.push({ op: "remove", table: "seals", key });
    }
    sum = modulo(sum);
    const masked = modulo(sum + maskOf(this.#crypto, integrity, transaction));
    const head: PlainRow = {
      table: "head",
      key: SELF,
      row: encode(this.#schema.codecOf("head"), { transactions: transaction, rows, digest: asDigest(masked) }),
    };
    leaves.push(leafOf(this.#crypto, transaction, head));
    const sealed = sealRows(this.#crypto, integrity, version, transaction, leaves);
    const seal: PlainRow = {
      table: "seals",
      key: numberKey(transaction),
      row: encode(this.#schema.codecOf("seals"), sealed),
    };
    const sealElement = elementOf(this.#crypto, integrity, leafOf(this.#crypto, transaction, seal));
    added.push([nameOf("seals", seal.key), { element: sealElement, sealedIn: undefined }]);
    const ops: ReadonlyArray<"insert" | "replace"> = [
      "insert",
      ...writes.flatMap((each) => (each.op === "remove" ? [] : [each.op])),
      before.transactions === 0 ? "insert" : "replace",
    ];
    const beside = encode(sealCodec, { transaction, own: undefined });
    const puts = [seal, ...plain, head].map(
      ({ table, key, row }, index): Change => ({
        op: ops[index] ?? "insert",
        table,
        key,
        value: { row, seal: beside },
      }),
    );
    // Readers may see the transaction before its end is reported; a failure ends the peer anyway.
    for (const { table, key } of removals) this.#known?.delete(table, key);
    this.#bytes.commit([...puts, ...removals], (failure) => {
      if (failure === undefined) {
        for (const { op, table, key } of writes) if (op === "insert") this.#known?.add(table, key);
        this.#head = { transactions: transaction, rows, sum, hasSeal: true };
        for (const { table, key } of removals) this.#shares.delete(nameOf(table, key));
        for (const [name, share] of added) this.#shares.set(name, share);
        this.#rows.remember(seal.key, sealed);
        for (const number of released) if (number !== undefined) this.#uses?.add(number, -1);
        for (const number of unused) this.#uses?.end(number);
        this.#uses?.start(transaction);
        this.#uses?.add(transaction, plain.length);
        for (const write of writes)
          if (write.table === "integrity" && write.op === "insert")
            this.#history.append(write.row.publicKey, transaction);
      }
      done(failure);
    });
  }

  /** The transactions of which no row is left once these have lost one each; none while that is not known. */
  #unusedAfter(released: ReadonlyArray<number | undefined>, before: Head): ReadonlySet<number> {
    const uses = this.#uses;
    if (uses === undefined) return NONE;
    const fewer = new Map<number, number>();
    for (const number of released) if (number !== undefined) fewer.set(number, (fewer.get(number) ?? 0) + 1);
    // What it wrote beside the head may be gone already, or it has only removed.
    if (before.hasSeal && !fewer.has(before.transactions)) fewer.set(before.transactions, 0);
    return new Set([...fewer].flatMap(([number, count]) => (uses.of(number) === count ? [number] : [])));
  }

  /**
   * Adds up every row and its seal and compares the sum with the signed head: finds rows and seals that were changed,
   * and rows that were deleted, added or brought back from an older time. Where something does not hold it goes through
   * all rows once more, seal by seal, to say where. Needs the integrity key. Returns where, or undefined. It keeps no
   * row and pauses after every page, so that its caller can do something else in between; nothing may be committed
   * before it has ended.
   */
  *verifyPages(): Generator<Verified, string | undefined> {
    if (!this.#history.isInUse) return "the integrity key is not in memory";
    try {
      const head = this.#headOnDisk();
      if (this.#head !== undefined && (head.transactions !== this.#head.transactions || head.sum !== this.#head.sum))
        return "head/self: it is not the one that was written last";
      const known = new KnownRows(this.#crypto, this.#history.newest().key.setKey);
      const uses = new SealUses();
      const newest = head.hasSeal ? numberKey(head.transactions) : undefined;
      let sum = 0n;
      let rows = 0;
      let seals = 0;
      let areSealed = true;
      yield { rows, of: head.rows };
      for (const table of this.#tables)
        for (const page of pagesOf(this.#bytes, table)) {
          if (table === "seals") seals += page.length;
          for (const { key, value } of page) {
            // What proves the head was verified with it.
            if (table === "seals" && key === newest) {
              uses.start(head.transactions);
              continue;
            }
            const { element, sealedIn } = this.#shareOf(table, key, value);
            sum += element;
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
      if (!areSealed || rows !== head.rows || sum % MODULUS !== head.sum)
        return yield* this.#faultPages(rows, head.rows);
      this.#known = known;
      this.#uses = uses;
      return undefined;
    } catch (fault) {
      if (fault instanceof IntegrityFailure) return fault.message;
      throw fault;
    }
  }

  /** Where rows that do not add up to the head differ from what was written, told as exactly as can be. */
  *#faultPages(rows: number, of: number): Generator<Verified, string> {
    let opened = 0;
    for (const table of this.#tables)
      for (const page of pagesOf(this.#bytes, table)) {
        for (const { key, value } of page) this.#rows.open(table, key, value);
        opened += page.length;
        yield { rows: opened, of: Math.max(opened, of) };
      }
    return rows === of
      ? "the rows do not add up to the signed head"
      : `${Math.abs(rows - of)} rows are ${rows < of ? "missing" : "too many"}`;
  }

  /**
   * All rows of a table, a slice at a time, each with its seal verified by the public keys of the history: as much as
   * can be told without private keys. Throws {@link IntegrityFailure}; rows that are not there are not noticed.
   */
  *slices<T extends TableName>(
    table: T,
  ): Generator<ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }>, void> {
    for (const page of pagesOf(this.#bytes, table))
      yield page.flatMap(({ key, value }) => this.#shown(table, key, value));
  }

  /** {@link verifyPages} without a pause. */
  verifyAll(): string | undefined {
    const pages = this.verifyPages();
    let page = pages.next();
    while (page.done !== true) page = pages.next();
    return page.value;
  }

  #headNow(): Head {
    this.#head ??= this.#headOnDisk();
    return this.#head;
  }

  #headOnDisk(): Head {
    const stored = this.#bytes.get("head", SELF);
    if (stored === undefined) return EMPTY;
    // Against what lies there now: it is no part of the sum.
    this.#rows.forget();
    const { value, seal, sealedIn } = this.#rows.open("head", SELF, stored);
    const { transactions, rows, digest } = value;
    const mask = maskOf(this.#crypto, this.#history.secret(seal.keyVersion), transactions);
    return { transactions, rows, sum: modulo(BigInt(`0x${digest}`) - mask), hasSeal: sealedIn !== undefined };
  }

  #shareOnDisk(table: TableName, key: string): Share {
    const known = this.#shares.get(nameOf(table, key));
    if (known !== undefined) return known;
    const stored = this.#bytes.get(table, key);
    if (stored === undefined) throw new IntegrityFailure(`${table}/${key}`, "the row to change is missing");
    const { leaf, sealedIn } = this.#rows.open(table, key, stored);
    return { element: this.#elementOf(leaf), sealedIn };
  }

  #elementOf(leaf: Digest): bigint {
    return elementOf(this.#crypto, this.#history.newest().key, leaf);
  }

  /**
   * A row's share as it lies there: all that a sum has to be told of it, since nobody without the key finds another row
   * with the same. A row that carries its own proof is opened: only its transaction is part of the sum.
   */
  #shareOf(table: TableName, key: string, stored: StoredRow): Share {
    const { transaction, own } = this.#rows.sealOf(`${table}/${key}`, stored.seal);
    if (own === undefined) {
      const leaf = leafOf(this.#crypto, transaction, { table, key, row: stored.row });
      return { element: this.#elementOf(leaf), sealedIn: transaction };
    }
    return { element: this.#elementOf(this.#rows.open(table, key, stored).leaf), sealedIn: undefined };
  }
}

const nameOf = (table: TableName, key: string): string => `${table}/${key}`;

/** All rows of a table, some at a time. */
function* pagesOf(
  bytes: ByteStore,
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
