/**
 * The peer's store over any byte store: rows are encoded and sealed on their way
 * down, decoded and verified on their way up. A row that does not hold never
 * reaches the core.
 */
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest } from "../core/base/Digest.ts";
import { type Rows, type RowView, type TableName, tables, type Write } from "../core/Tables.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { numberKey, SELF } from "../core/protocol/Tables.ts";
import { type ByteStore, type StoredRow, StoreFailure } from "./ByteStore.ts";
import type { CheckpointFile, Moment, RowChanges } from "./Checkpoint.ts";
import { CheckpointLog, type Knowledge, useSeals } from "./CheckpointLog.ts";
import type { KeyHistory } from "./KeyHistory.ts";
import { printOf } from "./KnownRows.ts";
import { OpenedRows } from "./OpenedRows.ts";
import { IntegrityFailure, type KeyView, type PeerStore } from "./PeerStore.ts";
import { RecentMap } from "./RecentMap.ts";
import { RowOpener } from "./RowOpener.ts";
import { elementOf, type IntegrityKey, leafOf, maskOf } from "./RowSeal.ts";
import { pagesOf, type RowChange, RowProofs } from "./RowProofs.ts";
import { addUp, asDigest, type Head, modulo, type Share, type Verified } from "./RowSums.ts";
import { sealTransaction } from "./SealedTransaction.ts";

/** Elements of recently written rows: most rows that change were written a moment ago. */
const REMEMBERED = 8192;
/** Bytes of changes behind a checkpoint: read in a second. */
const MOST_CHANGES = 16 * 1024 * 1024;

const EMPTY: Head = { transactions: 0, rows: 0, sum: 0n, hasSeal: false };

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
  readonly #log: CheckpointLog;
  /** From the end of a verification, or a checkpoint on, for as long as the keys are in use. */
  #knowledge: Knowledge | undefined;
  /** From a checkpoint on, until all rows are verified. */
  #proofs: RowProofs | undefined;

  /** @param checkpoint where what this store knows of its rows outlives it; without, every unseal reads all of them */
  constructor(
    bytes: ByteStore,
    crypto: Crypto,
    schema = tables,
    checkpoint?: CheckpointFile,
    mostChanges = MOST_CHANGES,
  ) {
    this.#bytes = bytes;
    this.#crypto = crypto;
    this.#schema = schema;
    const others = (schema.names as ReadonlyArray<TableName>).filter((table) => table !== "head" && table !== "seals");
    this.#tables = ["seals", ...others];
    this.#log = new CheckpointLog(checkpoint, crypto, mostChanges);
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
    this.#knowledge = undefined;
    this.#proofs = undefined;
    this.#log.stop();
  }

  /** Brings a later integrity key into memory; it is in use once a stored row of the history names it. */
  addKey(integrity: IntegrityKey): void {
    this.#history.add(integrity);
  }

  /** A row; once it is known which there are, a missing one throws, just as one whose seal does not hold. */
  get<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    const stored = this.#bytes.get(table, key);
    const opened = stored && this.#rows.openCurrent(table, key, stored);
    this.#proofs?.assertRow(table, key, opened && this.#elementOf(opened.leaf));
    return opened === undefined ? this.#absent(table, key) : opened.value;
  }

  /** This store for callers who ask for the same rows often: a seal is verified once for the bytes that lie there. */
  readonly recalling: RowView & KeyView = {
    get: (table, key) => this.#recall(table, key),
    scan: (table, after, limit) => this.scan(table, after, limit),
    keys: (table, from, limit) => this.keys(table, from, limit),
  };

  #recall<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    // What was opened once need not be what was written last.
    if (this.#proofs !== undefined) return this.get(table, key);
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
    if (this.#proofs === undefined && this.#knowledge?.known.printAt(table, key) !== undefined)
      throw new IntegrityFailure(`${table}/${key}`, "the row is missing");
  }

  scan<T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> {
    this.#proofs?.assertTable(table);
    return this.#bytes.scan(table, after, limit).flatMap(({ key, value }) => this.#shown(table, key, value));
  }

  /** A row of a page; none where it has gone meanwhile. */
  #shown<T extends TableName>(table: T, key: string, stored: StoredRow) {
    const opened = this.#rows.openCurrent(table, key, stored);
    return opened === undefined ? [] : [{ key, row: opened.value }];
  }

  keys(table: TableName, from: string, limit: number): ReadonlyArray<string> {
    this.#proofs?.assertTable(table);
    return this.#bytes.keys(table, from, limit);
  }

  commit(writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void): void {
    const { version, key: integrity } = this.#history.newest();
    const { changes, rows, counts, head, sealed } = sealTransaction(
      {
        crypto: this.#crypto,
        schema: this.#schema,
        integrity,
        version,
        shareOnDisk: (table, key) => this.#shareOnDisk(table, key),
        uses: this.#knowledge?.uses,
      },
      this.#headNow(),
      writes,
    );
    this.#note({ transaction: head.transactions, sum: asDigest(head.sum) }, rows, counts);
    // Readers may see the transaction before its end is reported; a failure ends the peer anyway.
    if (this.#proofs === undefined)
      for (const { table, key, after } of rows) if (after === undefined) this.#knowledge?.known.delete(table, key);
    this.#proofs?.begin(rows);
    this.#bytes.commit(changes, (failure) => {
      if (failure === undefined) {
        this.#head = head;
        this.#took(rows, head.transactions);
        this.#rows.remember(numberKey(head.transactions), sealed);
        if (this.#knowledge !== undefined) useSeals(this.#knowledge.uses, head.transactions, counts);
        for (const write of writes)
          if (write.table === "integrity" && write.op === "insert")
            this.#history.append(write.row.publicKey, head.transactions);
        if (this.#log.isLong) this.#keepCheckpoint();
      }
      done(failure);
    });
  }

  /** Adds a transaction to the checkpoint. */
  #note(moment: Moment, changes: ReadonlyArray<RowChange>, counts: Omit<RowChanges, "rows">): void {
    const known = this.#knowledge?.known;
    if (known === undefined || !this.#log.isKept) return;
    const rows = changes
      .filter(({ table }) => table !== "seals")
      .map(({ table, key, after }) => ({
        table,
        place: known.placeOf(table, key),
        print: after === undefined ? 0 : printOf(after),
      }));
    this.#log.add(this.#history.newest().key, moment, { rows, ...counts });
  }

  /** What was written is there. */
  #took(changes: ReadonlyArray<RowChange>, transaction: number): void {
    for (const { table, key, after } of changes) {
      const name = nameOf(table, key);
      if (after === undefined) this.#shares.delete(name);
      else this.#shares.set(name, { element: after, sealedIn: table === "seals" ? undefined : transaction });
      if (table === "seals") continue;
      if (after === undefined) this.#knowledge?.known.delete(table, key);
      else this.#knowledge?.known.set(table, key, after);
    }
    this.#proofs?.end();
  }

  /** Keeps all that is known of the rows; no transaction may be under way. */
  #keepCheckpoint(): void {
    const { transactions, sum } = this.#headNow();
    const moment = { transaction: transactions, sum: asDigest(sum) };
    if (this.#knowledge !== undefined) this.#log.start(this.#history.newest().key, moment, this.#knowledge);
  }

  /**
   * Takes over what a checkpoint says of the rows: each is then proven where it is read, a table before it is scanned,
   * and {@link verifyRest} proves all. False where there is none that ends with the signed head: then
   * {@link verifyPages} must. Needs the integrity key.
   */
  resume(): boolean {
    if (!this.#history.isInUse) return false;
    try {
      const head = this.#headOnDisk();
      const { transactions: transaction, sum } = head;
      if (!this.#isLast(head)) return false;
      const { key } = this.#history.newest();
      this.#knowledge = this.#log.read(key, { transaction, sum: asDigest(sum) });
    } catch (fault) {
      if (fault instanceof IntegrityFailure) return false;
      throw fault;
    }
    if (this.#knowledge === undefined) return false;
    this.#proofs = new RowProofs({
      bytes: this.#bytes,
      known: this.#knowledge.known,
      tables: this.#tables,
      elementOf: (table, key, stored) => this.#shareOf(table, key, stored).element,
      open: (table, key, stored) => void this.#rows.open(table, key, stored),
    });
    return true;
  }

  /**
   * Verifies all rows after {@link resume}, as {@link verifyPages} does, while they are read and written. Returns where
   * something does not hold.
   */
  *verifyRest(): Generator<Verified, string | undefined> {
    const proofs = this.#proofs;
    if (proofs === undefined) return undefined;
    try {
      const pages = proofs.pages();
      let page = pages.next();
      for (; page.done !== true; page = pages.next()) {
        yield { rows: page.value, of: this.#headNow().rows + Math.min(page.value, this.#headNow().transactions) };
        // Its keys are out of use, and perhaps in use again.
        if (this.#proofs !== proofs) return undefined;
      }
      const head = this.#headNow();
      const newest = head.hasSeal ? this.#shareOnDisk("seals", numberKey(head.transactions)).element : 0n;
      if (modulo(page.value) !== modulo(head.sum + newest)) return "the rows do not add up to the signed head";
      this.#proofs = undefined;
      return undefined;
    } catch (fault) {
      if (fault instanceof IntegrityFailure) return fault.message;
      throw fault;
    }
  }

  /**
   * Verifies all rows before anything is written: see {@link addUp}. Where something does not hold it goes through
   * all rows once more, seal by seal, to say where. Needs the integrity key. Returns where, or undefined. It keeps no
   * row and pauses after every page, so that its caller can do something else in between.
   */
  *verifyPages(): Generator<Verified, string | undefined> {
    if (!this.#history.isInUse) return "the integrity key is not in memory";
    try {
      const head = this.#headOnDisk();
      if (!this.#isLast(head)) return "head/self: it is not the one that was written last";
      const { setKey } = this.#history.newest().key;
      const found = yield* addUp(
        {
          bytes: this.#bytes,
          crypto: this.#crypto,
          setKey,
          tables: this.#tables,
          shareOf: (table, key, stored) => this.#shareOf(table, key, stored),
          opener: this.#rows,
        },
        head,
      );
      if (typeof found === "string") return found;
      this.#knowledge = found;
      this.#head = head;
      this.#keepCheckpoint();
      return undefined;
    } catch (fault) {
      if (fault instanceof IntegrityFailure) return fault.message;
      throw fault;
    }
  }

  /** Whether a head is the one that this very store wrote last, if it wrote any. */
  #isLast({ transactions, sum }: Head): boolean {
    return this.#head === undefined || (transactions === this.#head.transactions && sum === this.#head.sum);
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
    const element = this.#elementOf(leaf);
    if (table !== "seals") this.#proofs?.assertRow(table, key, element);
    return { element, sealedIn };
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
