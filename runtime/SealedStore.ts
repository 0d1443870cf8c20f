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
import type { KnownRows } from "./KnownRows.ts";
import { OpenedRows } from "./OpenedRows.ts";
import { IntegrityFailure, type KeyView, type PeerStore } from "./PeerStore.ts";
import { RecentMap } from "./RecentMap.ts";
import { ReadAtStart } from "./ReadAtStart.ts";
import { RowOpener } from "./RowOpener.ts";
import type { Share } from "./RowShares.ts";
import { elementOf, type IntegrityKey, leafOf, maskOf, type PlainRow, sealCodec, sealRows } from "./RowSeal.ts";
import { type Head, MODULUS, pagesOf, RowSum, type Verified } from "./RowSum.ts";
import type { SealUses } from "./SealUses.ts";

/** Elements of recently written rows: most rows that change were written a moment ago. */
const REMEMBERED = 8192;

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
  readonly #sum: RowSum;
  /** Until rows are verified, or written, for the first time. */
  #readAtStart: ReadAtStart | undefined = new ReadAtStart();
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
    this.#sum = new RowSum({ bytes, crypto, rows: this.#rows, tables: this.#tables });
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

  /** This store for the state of a process: what it finds is held against the rows that are verified afterwards. */
  readonly atStart: RowView = {
    get: (table, key) => {
      const stored = this.#bytes.get(table, key);
      this.#readAtStart?.note(table, key, stored);
      return stored && this.#rows.open(table, key, stored).value;
    },
    scan: (table, after, limit) => {
      const page = this.#bytes.scan(table, after, limit);
      this.#readAtStart?.notePage(table, after, limit, page);
      return page.map(({ key, value }) => ({ key, row: this.#rows.open(table, key, value).value }));
    },
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
        this.#readAtStart = undefined;
        for (const { table, key } of removals) this.#shares.delete(nameOf(table, key));
        for (const [name, share] of added) this.#shares.set(name, share);
        this.#rows.remember(seal.key, sealed);
        for (const number of released) if (number !== undefined) this.#uses?.add(number, -1);
        for (const number of unused) {
          this.#uses?.end(number);
          this.#rows.end(numberKey(number));
        }
        for (const { op, table, key } of writes) if (op !== "insert") this.#opened.delete(table, key);
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
   * Adds up all rows ({@link RowSum}) and holds them against the signed head, and against what this process has read
   * at its start. Needs the integrity key. Returns where something does not hold, or undefined. It keeps no row and
   * pauses after every page, so that its caller can do something else in between; nothing may be committed before it
   * has ended.
   */
  *verifyPages(): Generator<Verified, string | undefined> {
    if (!this.#history.isInUse) return "the integrity key is not in memory";
    try {
      const head = this.#headOnDisk();
      if (this.#head !== undefined && (head.transactions !== this.#head.transactions || head.sum !== this.#head.sum))
        return "head/self: it is not the one that was written last";
      const found = yield* this.#sum.pages(head, this.#readAtStart?.comparison());
      if (typeof found === "string") return found;
      // The sum itself must be that of the head from now on.
      this.#head = head;
      this.#readAtStart = undefined;
      this.#known = found.known;
      this.#uses = found.uses;
      return undefined;
    } catch (fault) {
      if (fault instanceof IntegrityFailure) return fault.message;
      throw fault;
    }
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
    return { element: elementOf(this.#crypto, this.#history.newest().key, leaf), sealedIn };
  }
}

const nameOf = (table: TableName, key: string): string => `${table}/${key}`;
