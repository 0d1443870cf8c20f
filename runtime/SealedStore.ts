/**
 * The peer's store over any byte store: rows are encoded and sealed on their way down, decoded and verified on their
 * way up. A row that does not hold never reaches the core; once the keys are in use, neither does one that was put back
 * while no process ran, nor the absence of one that was taken away. What is put back beside a running process is seen
 * when its range is read again.
 */
import { encode } from "../core/codec/CborWriter.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest } from "../core/base/Digest.ts";
import { type Rows, type RowView, type TableName, tables, type Write } from "../core/Tables.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { numberKey, SELF } from "../core/protocol/Tables.ts";
import { type ByteStore, type Change, StoreFailure, type StoredRow } from "./ByteStore.ts";
import type { KeyHistory } from "./KeyHistory.ts";
import { OpenedRows } from "./OpenedRows.ts";
import { IntegrityFailure, type KeyView, type PeerStore } from "./PeerStore.ts";
import { ended, pagesOf } from "./RangeProof.ts";
import type { Move, RangedRows } from "./RangedRows.ts";
import { nameOf } from "./Ranges.ts";
import { RANGE_SIZES, type RangeSizes } from "./RangeRows.ts";
import { RecentMap } from "./RecentMap.ts";
import { ReadAtStart } from "./ReadAtStart.ts";
import { RowOpener } from "./RowOpener.ts";
import type { Share } from "./RowShares.ts";
import {
  elementOf,
  headLeafOf,
  headSealCodec,
  type IntegrityKey,
  leafOf,
  type PlainRow,
  sealCodec,
  sealRows,
} from "./RowSeal.ts";
import type { Verified } from "./RowSum.ts";
import { StoreOpening, type StoredHead } from "./StoreOpening.ts";

/** Elements of recently written rows: most rows that change were written a moment ago. */
const REMEMBERED = 8192;

const NONE: ReadonlySet<number> = new Set();

export class SealedStore implements PeerStore, KeyView {
  readonly #bytes: ByteStore;
  readonly #crypto: Crypto;
  readonly #schema: Schema;
  readonly #shares = new RecentMap<Share>(REMEMBERED);
  readonly #rows: RowOpener;
  readonly #history: KeyHistory;
  readonly #opened = new OpenedRows();
  readonly #opening: StoreOpening;
  /** Until rows are verified, or written, for the first time. */
  #readAtStart: ReadAtStart | undefined = new ReadAtStart();
  /** The last durable one, once this process has verified or written one. */
  #head: StoredHead | undefined;
  /** From the proof of the head on, for as long as the keys are in use. */
  #ranged: RangedRows | undefined;

  /** @param sizes those of ranges; a store goes on with others than it was written with */
  constructor(bytes: ByteStore, crypto: Crypto, schema = tables, sizes: RangeSizes = RANGE_SIZES) {
    this.#bytes = bytes;
    this.#crypto = crypto;
    this.#schema = schema;
    this.#rows = new RowOpener(bytes, crypto, schema);
    this.#history = this.#rows.history;
    const newest = (): number => this.#head?.transactions ?? 0;
    this.#opening = new StoreOpening({ bytes, crypto, schema, rows: this.#rows, sizes, newest });
  }

  /**
   * Brings the first integrity key into use (or takes all of them out) and says which key the history begins with.
   * Until the first call that is the key that the peer row itself names, which `verifyPages` then confirms or refutes.
   */
  useKey(integrity: IntegrityKey | undefined): void {
    this.#history.use(integrity);
    this.#shares.clear();
    this.#opened.clear();
    this.#rows.forget();
    this.#ranged = undefined;
  }

  /** Brings a later integrity key into memory; it is in use once a stored row of the history names it. */
  addKey(integrity: IntegrityKey): void {
    this.#history.add(integrity);
  }

  /** A row; once the head is proven, a missing one throws, and one whose transaction is gone, like a broken seal. */
  get<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    this.#ranged?.proveAt(table, key);
    const stored = this.#bytes.get(table, key);
    return (stored && this.#rows.openCurrent(table, key, stored)?.value) ?? this.#absent(table, key);
  }

  /** This store for callers who ask for the same rows often: a seal is verified once for the bytes that lie there. */
  readonly recalling: RowView & KeyView = this.#recalling(() => this.#ranged);

  /** The same for those who know that not all rows hold: whatever row its seal proves. */
  readonly remaining: RowView & KeyView = this.#recalling(() => undefined);

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

  #recalling(ranged: () => RangedRows | undefined): RowView & KeyView {
    return {
      get: (table, key) => {
        ranged()?.proveAt(table, key);
        return this.#recall(table, key);
      },
      scan: (table, after, limit) => this.#scan(ranged(), table, after, limit),
      keys: (table, from, limit) => this.#keys(ranged(), table, from, limit),
    };
  }

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
    if (this.#ranged?.found.known.has(table, key) === true)
      throw new IntegrityFailure(`${table}/${key}`, "the row is missing");
  }

  scan<T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> {
    return this.#scan(this.#ranged, table, after, limit);
  }

  #scan<T extends TableName>(ranged: RangedRows | undefined, table: T, after: string, limit: number) {
    const page = this.#bytes.scan(table, after, limit);
    ranged?.proveBetween(table, after, page.length < limit ? undefined : (page.at(-1)?.key ?? after));
    return page.flatMap(({ key, value }) => this.#shown(table, key, value));
  }

  /** A row of a page; none where it has gone meanwhile. */
  #shown<T extends TableName>(table: T, key: string, stored: StoredRow) {
    const opened = this.#rows.openCurrent(table, key, stored);
    return opened === undefined ? [] : [{ key, row: opened.value }];
  }

  keys(table: TableName, from: string, limit: number): ReadonlyArray<string> {
    return this.#keys(this.#ranged, table, from, limit);
  }

  #keys(ranged: RangedRows | undefined, table: TableName, from: string, limit: number): ReadonlyArray<string> {
    const page = this.#bytes.keys(table, from, limit);
    ranged?.proveAt(table, from);
    ranged?.proveBetween(table, from, page.length < limit ? undefined : (page.at(-1) ?? from));
    return page;
  }

  commit(writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void): void {
    const { version, key: integrity } = this.#history.newest();
    const ranged = this.#inUse();
    const before = this.#headNow();
    const transaction = before.transactions + 1;
    let { rows } = before;
    const plain: Array<PlainRow> = [];
    const leaves: Array<Digest> = [];
    const removals: Array<Change> = [];
    const moves: Array<Move> = [];
    const added: Array<readonly [string, Share]> = [];
    const released: Array<number> = [];
    // Whatever is changed was looked at before.
    for (const { table, key } of writes) ranged.proveAt(table, key);
    for (const write of writes) {
      const { table, key } = write;
      let removed: bigint | undefined;
      if (write.op !== "insert") {
        const { element, sealedIn } = this.#shareOnDisk(table, key);
        removed = element;
        if (sealedIn !== undefined) released.push(sealedIn);
      }
      if (write.op === "insert") rows += 1;
      if (write.op === "remove") {
        rows -= 1;
        removals.push({ op: "remove", table, key });
        moves.push({ table, key, removed });
        continue;
      }
      const row = { table, key, row: encode(this.#schema.codecOf(table), write.row) };
      const leaf = leafOf(this.#crypto, transaction, row);
      const element = elementOf(this.#crypto, integrity, leaf);
      leaves.push(leaf);
      moves.push({ table, key, removed, added: element });
      added.push([nameOf(table, key), { element, sealedIn: transaction }]);
      plain.push(row);
    }
    const unused = this.#unusedAfter(ranged, released, before);
    const last = numberKey(before.transactions);
    if (before.hasSeal && !unused.has(before.transactions)) {
      ranged.proveAt("seals", last);
      moves.push({ table: "seals", key: last, added: this.#shareOnDisk("seals", last).element });
    }
    for (const number of unused) {
      const key = numberKey(number);
      // The newest seal is in no range yet.
      if (number !== before.transactions)
        moves.push({ table: "seals", key, removed: this.#shareOnDisk("seals", key).element });
      removals.push({ op: "remove", table: "seals", key });
    }
    const { digest, chain, ...plan } = ranged.plan(transaction, rows, moves);
    const head: PlainRow = {
      table: "head",
      key: SELF,
      row: encode(this.#schema.codecOf("head"), { transactions: transaction, rows, digest }),
    };
    leaves.push(headLeafOf(this.#crypto, transaction, chain, head.row));
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
    const beside = encode(sealCodec, { transaction, own: undefined, chain: undefined });
    const headSeal = encode(headSealCodec, { transaction, chain });
    const puts = [seal, ...plain, head].map(
      ({ table, key, row }, index): Change => ({
        op: ops[index] ?? "insert",
        table,
        key,
        value: { row, seal: table === "head" ? headSeal : beside },
      }),
    );
    const { known } = ranged.found;
    // Readers may see the transaction before its end is reported; a failure ends the peer anyway.
    for (const { table, key } of removals) known.delete(table, key);
    this.#bytes.commit([...puts, ...removals, ...plan.changes], (failure) => {
      if (failure === undefined) {
        for (const { op, table, key } of writes) if (op === "insert") known.add(table, key);
        this.#head = { transactions: transaction, rows, digest, hasSeal: true };
        this.#readAtStart = undefined;
        for (const { table, key } of removals) this.#shares.delete(nameOf(table, key));
        for (const [name, share] of added) this.#shares.set(name, share);
        this.#rows.remember(seal.key, sealed);
        plan.done();
        this.#count(ranged, transaction, plain.length, released, unused);
        for (const number of unused) this.#rows.end(numberKey(number));
        for (const { op, table, key } of writes) if (op !== "insert") this.#opened.delete(table, key);
        for (const write of writes)
          if (write.table === "integrity" && write.op === "insert")
            this.#history.append(write.row.publicKey, transaction);
      }
      done(failure);
    });
  }

  /** Takes note of which seals rows need after a transaction. */
  #count(
    ranged: RangedRows,
    transaction: number,
    rows: number,
    released: ReadonlyArray<number>,
    unused: ReadonlySet<number>,
  ): void {
    const { uses } = ranged.found;
    for (const number of released) uses.add(number, -1);
    for (const number of unused) uses.end(number);
    uses.start(transaction);
    uses.add(transaction, rows);
    // The last rows may have been looked at while it was flushed: it could not take these seals with it, nor the last.
    ranged.leave([...new Set([...released, transaction - 1])].filter((number) => uses.of(number) === 0));
  }

  /** The transactions of which no row is left once these have lost one each; none while that is not known. */
  #unusedAfter(ranged: RangedRows, released: ReadonlyArray<number>, before: StoredHead): ReadonlySet<number> {
    if (!ranged.isWhole) return NONE;
    const { uses } = ranged.found;
    const fewer = new Map<number, number>(ranged.takeUnneeded().map((number) => [number, 0]));
    for (const number of released) fewer.set(number, (fewer.get(number) ?? 0) + 1);
    // What it wrote beside the head may be gone already, or it has only removed.
    if (before.hasSeal && !fewer.has(before.transactions)) fewer.set(before.transactions, 0);
    return new Set([...fewer].flatMap(([number, count]) => (uses.of(number) === count ? [number] : [])));
  }

  /**
   * Proves the head and all ranges as a whole, and with them what this process has read at its start
   * ({@link RangedRows}); from then on whatever is read is proven before it is shown. Rows from before there were
   * ranges are all added up. Needs the integrity key. Returns where something does not hold, or undefined. It pauses
   * after every page, so that its caller can do something else in between; nothing may be committed before it has
   * ended.
   */
  *verifyPages(): Generator<Verified, string | undefined> {
    this.#ranged = undefined;
    return yield* this.#judged(this.#open(this.#readAtStart));
  }

  /**
   * Proves the rows that nobody has read since {@link verifyPages}, a range at a time. Returns where one does not hold;
   * undefined where all do, or the keys are not in use any more.
   */
  *verifyRest(): Generator<Verified, string | undefined> {
    return this.#ranged && (yield* this.#judged(this.#rest(this.#ranged)));
  }

  *#rest(ranged: RangedRows): Generator<Verified, undefined> {
    for (const progress of ranged.rest()) {
      yield progress;
      if (this.#ranged !== ranged) return;
    }
  }

  /** Whether {@link verifyRest} has ended well. */
  get isWhole(): boolean {
    return this.#ranged?.isWhole === true;
  }

  *#judged(proof: Generator<Verified, string | undefined>): Generator<Verified, string | undefined> {
    if (!this.#history.isInUse) return "the integrity key is not in memory";
    try {
      return yield* proof;
    } catch (fault) {
      if (fault instanceof IntegrityFailure) return fault.message;
      throw fault;
    }
  }

  *#open(read: ReadAtStart | undefined): Generator<Verified, string | undefined> {
    const opened = yield* this.#opening.open(this.#head, read);
    if (typeof opened === "string") return opened;
    this.#head = opened.head;
    this.#ranged = opened.ranged;
    if (read !== undefined) this.#readAtStart = undefined;
    return undefined;
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

  /** Holds the rows of ranges against the head, as {@link slices} verifies others. Throws {@link IntegrityFailure}. */
  rangesHold(): void {
    ended(this.#opening.rangesHold());
  }

  /** {@link verifyPages} and {@link verifyRest} without a pause. */
  verifyAll(): string | undefined {
    return ended(this.verifyPages()) ?? ended(this.verifyRest());
  }

  /** What is proven of the rows, which must be before they are changed. Throws {@link IntegrityFailure}. */
  #inUse(): RangedRows {
    if (this.#ranged === undefined) {
      const why = ended(this.#open(undefined));
      if (why !== undefined) throw new IntegrityFailure("head/self", why);
    }
    const ranged = this.#ranged;
    if (ranged === undefined) throw new StoreFailure("the rows were not opened");
    if (ranged.fault !== undefined) throw ranged.fault;
    return ranged;
  }

  #headNow(): StoredHead {
    if (this.#head === undefined) throw new StoreFailure("the head was not opened");
    return this.#head;
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
