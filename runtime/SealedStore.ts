/**
 * The peer's store over any byte store: rows are encoded and sealed on their way
 * down, decoded and verified on their way up. A row that does not hold never
 * reaches the core.
 */
import { Either } from "effect";
import { decode, versionOf } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import type { Codec } from "../core/codec/Codec.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import { type Rows, type RowView, type TableName, tables, type Write } from "../core/Tables.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { SELF } from "../core/protocol/Tables.ts";
import { type ByteStore, type Change, type StoredRow, StoreFailure } from "./ByteStore.ts";
import { KeyHistory } from "./KeyHistory.ts";
import { KnownRows } from "./KnownRows.ts";
import { OpenedRows } from "./OpenedRows.ts";
import { IntegrityFailure, type KeyView, type PeerStore, UnreadableRow } from "./PeerStore.ts";
import { ProvenSeals } from "./ProvenSeals.ts";
import { RecentMap } from "./RecentMap.ts";
import {
  elementOf,
  type IntegrityKey,
  isSealed,
  leafOf,
  maskOf,
  SEAL_VERSION,
  type PlainRow,
  type Seal,
  sealCodec,
  sealRows,
} from "./RowSeal.ts";

const MODULUS = 1n << 256n;
/** Rows of one slice of a verification: a few milliseconds, in which no request is answered. */
const SCAN_PAGE = 64;
/** Elements of recently written rows: most rows that change were written a moment ago. */
const REMEMBERED = 8192;

/** The progress of a verification: rows verified, of how many by the signed head. */
export interface Verified {
  readonly rows: number;
  readonly of: number;
}

/** A stored row whose seal holds. */
interface OpenRow<T extends TableName> {
  readonly value: Rows[T];
  readonly seal: Seal;
  readonly leaf: Digest;
}

interface Head {
  readonly transactions: number;
  readonly rows: number;
  readonly sum: bigint;
}

const EMPTY: Head = { transactions: 0, rows: 0, sum: 0n };

const modulo = (value: bigint): bigint => ((value % MODULUS) + MODULUS) % MODULUS;

const asDigest = (sum: bigint): Digest => sum.toString(16).padStart(64, "0") as Digest;

export class SealedStore implements PeerStore, KeyView {
  readonly #bytes: ByteStore;
  readonly #crypto: Crypto;
  readonly #schema: Schema;
  readonly #elements = new RecentMap<bigint>(REMEMBERED);
  readonly #history: KeyHistory;
  readonly #opened = new OpenedRows();
  #head: Head | undefined;
  /** From the end of a verification on, for as long as the keys are in use. */
  #known: KnownRows | undefined;

  constructor(bytes: ByteStore, crypto: Crypto, schema = tables) {
    this.#bytes = bytes;
    this.#crypto = crypto;
    this.#schema = schema;
    this.#history = new KeyHistory({
      first: () => this.#firstKey(),
      after: (key) => this.#bytes.scan("integrity", key, 1)[0],
      open: (key, value) => this.#open("integrity", key, value),
    });
  }

  /**
   * Brings the first integrity key into use (or takes all of them out) and says
   * which key the history begins with. Until the first call that is the key that
   * the peer row itself names, which `verifyAll` then confirms or refutes.
   */
  useKey(integrity: IntegrityKey | undefined): void {
    this.#history.use(integrity);
    this.#elements.clear();
    this.#opened.clear();
    this.#known = undefined;
  }

  /** Brings a later integrity key into memory; it is in use once a stored row of the history names it. */
  addKey(integrity: IntegrityKey): void {
    this.#history.add(integrity);
  }

  /** A row; once all are verified, a missing one throws, just as one whose seal does not hold. */
  get<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    const stored = this.#bytes.get(table, key);
    return stored === undefined ? this.#absent(table, key) : this.#open(table, key, stored).value;
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
    const { value } = this.#open(table, key, stored);
    this.#opened.set(table, key, stored, value);
    return value;
  }

  #absent(table: TableName, key: string): undefined {
    if (this.#known?.has(table, key) === true) throw new IntegrityFailure(`${table}/${key}`, "the row is missing");
  }

  scan<T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> {
    return this.#bytes
      .scan(table, after, limit)
      .map(({ key, value }) => ({ key, row: this.#open(table, key, value).value }));
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
    const added: Array<readonly [string, bigint]> = [];
    for (const write of writes) {
      const { table, key } = write;
      if (write.op !== "insert") sum -= this.#elementOnDisk(table, key);
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
      added.push([`${table}/${key}`, element]);
      plain.push(row);
    }
    sum = modulo(sum);
    const masked = modulo(sum + maskOf(this.#crypto, integrity, transaction));
    const head: PlainRow = {
      table: "head",
      key: SELF,
      row: encode(this.#schema.codecOf("head"), { transactions: transaction, rows, digest: asDigest(masked) }),
    };
    leaves.push(leafOf(this.#crypto, transaction, head));
    const seals = sealRows(this.#crypto, integrity, version, transaction, leaves);
    const ops = [
      ...writes.flatMap((each) => (each.op === "remove" ? [] : [each.op])),
      before.transactions === 0 ? ("insert" as const) : ("replace" as const),
    ];
    const puts = [...plain, head].map(
      (each, index): Change => ({
        op: ops[index] ?? "insert",
        table: each.table,
        key: each.key,
        value: { row: each.row, seal: encode(sealCodec, sealAt(seals, index)) },
      }),
    );
    // Readers may see the transaction before its end is reported; a failure ends the peer anyway.
    for (const { table, key } of removals) this.#known?.delete(table, key);
    this.#bytes.commit([...puts, ...removals], (failure) => {
      if (failure === undefined) {
        for (const { op, table, key } of writes) if (op === "insert") this.#known?.add(table, key);
        this.#head = { transactions: transaction, rows, sum };
        this.#remember(writes, added);
        for (const write of writes)
          if (write.table === "integrity" && write.op === "insert")
            this.#history.append(write.row.publicKey, transaction);
      }
      done(failure);
    });
  }

  /**
   * Opens every row with its seal, and compares all of them together with the signed head: finds rows and seals that
   * were changed, and rows that were deleted, added or brought back from an older time. Needs the integrity key.
   * Returns where something does not hold, or undefined. It keeps no row and pauses after every page, so that its
   * caller can do something else in between; nothing may be committed before it has ended.
   */
  *verifyPages(): Generator<Verified, string | undefined> {
    if (!this.#history.isInUse) return "the integrity key is not in memory";
    try {
      const head = this.#headOnDisk();
      if (this.#head !== undefined && (head.transactions !== this.#head.transactions || head.sum !== this.#head.sum))
        return "head/self: it is not the one that was written last";
      const { setKey } = this.#history.newest().key;
      const proven = new ProvenSeals(this.#crypto, setKey);
      const known = new KnownRows(this.#crypto, setKey);
      let sum = 0n;
      let rows = 0;
      yield { rows, of: head.rows };
      for (const table of this.#schema.names as ReadonlyArray<TableName>) {
        if (table === "head") continue;
        for (let after = ""; ; ) {
          const page = this.#bytes.scan(table, after, SCAN_PAGE);
          for (const { key, value } of page) {
            rows += 1;
            known.add(table, key);
            sum += this.#elementOf(this.#open(table, key, value, proven));
          }
          const last = page.at(-1);
          if (last === undefined || page.length < SCAN_PAGE) break;
          after = last.key;
          yield { rows, of: head.rows };
        }
      }
      if (rows !== head.rows)
        return `${Math.abs(rows - head.rows)} rows are ${rows < head.rows ? "missing" : "too many"}`;
      if (sum % MODULUS !== head.sum) return "the rows do not add up to the signed head";
      this.#known = known;
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
    const proven = new ProvenSeals(this.#crypto);
    for (let after = ""; ; ) {
      const page = this.#bytes.scan(table, after, SCAN_PAGE);
      yield page.map(({ key, value }) => ({ key, row: this.#open(table, key, value, proven).value }));
      const last = page.at(-1);
      if (last === undefined || page.length < SCAN_PAGE) return;
      after = last.key;
    }
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
    const { value, seal } = this.#open("head", SELF, stored);
    const { transactions, rows, digest } = value;
    const mask = maskOf(this.#crypto, this.#history.secret(seal.keyVersion), transactions);
    return { transactions, rows, sum: modulo(BigInt(`0x${digest}`) - mask) };
  }

  #elementOnDisk(table: TableName, key: string): bigint {
    const known = this.#elements.get(`${table}/${key}`);
    if (known !== undefined) return known;
    const stored = this.#bytes.get(table, key);
    if (stored === undefined) throw new IntegrityFailure(`${table}/${key}`, "the row to change is missing");
    return this.#elementOf(this.#open(table, key, stored));
  }

  #elementOf({ seal, leaf }: OpenRow<TableName>): bigint {
    return elementOf(this.#crypto, this.#history.secret(seal.keyVersion), leaf);
  }

  #remember(writes: ReadonlyArray<Write>, added: ReadonlyArray<readonly [string, bigint]>): void {
    for (const write of writes) if (write.op === "remove") this.#elements.delete(`${write.table}/${write.key}`);
    for (const [name, element] of added) this.#elements.set(name, element);
  }

  #open<T extends TableName>(
    table: T,
    key: string,
    { row, seal: sealed }: StoredRow,
    proven?: ProvenSeals,
  ): OpenRow<T> {
    const where = `${table}/${key}`;
    const decoded = decode(sealCodec, sealed, SEAL_VERSION);
    if (Either.isLeft(decoded)) throw unverified(where, "the seal cannot be read", sealed, SEAL_VERSION);
    const seal = decoded.right;
    const publicKey = this.#history.publicKey(where, seal);
    const leaf = leafOf(this.#crypto, seal.transaction, { table, key, row });
    if (!isSealed(this.#crypto, publicKey, leaf, seal, proven))
      throw new IntegrityFailure(where, "the seal does not hold");
    const value = this.#decoded(table, row);
    // This very peer wrote it: another program must have been at work.
    if (Either.isLeft(value)) throw new UnreadableRow(where, value.left);
    return { value: value.right, seal, leaf };
  }

  #decoded<T extends TableName>(table: T, row: Uint8Array): Either.Either<Rows[T], string> {
    return decode(this.#schema.codecOf(table) as Codec<Rows[T]>, row, this.#schema.newest);
  }

  /** The key that the history begins with, as named by the peer row, which is verified with it like any other row. */
  #firstKey(): PublicKey {
    const stored = this.#bytes.get("peer", SELF);
    if (stored === undefined)
      throw new IntegrityFailure("peer/self", "the row that names the integrity key is missing");
    const named = this.#decoded("peer", stored.row);
    if (Either.isRight(named)) return named.right.integrityKey;
    throw unverified(
      "peer/self",
      "the row that names the integrity key cannot be read",
      stored.row,
      this.#schema.newest,
    );
  }
}

/** The fault of bytes that cannot be read and that nobody vouches for: at least they may claim a later version. */
const unverified = (where: string, why: string, bytes: Uint8Array, newest: number): Error => {
  const version = versionOf(bytes);
  return version > newest
    ? new UnreadableRow(where, `version ${version}, where ${newest} is the newest known`)
    : new IntegrityFailure(where, why);
};

const sealAt = (seals: ReadonlyArray<Seal>, index: number): Seal => {
  const seal = seals[index];
  if (seal === undefined) throw new RangeError("every row has a seal");
  return seal;
};
