/** The disk of runs that are not bulk: rows encoded and sealed by the runtime's own layer over simulated bytes. */
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Schema } from "../../core/protocol/Composition.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import { type Rows, type RowView, type TableName, tables, type Write } from "../../core/Tables.ts";
import type { ByteStore, StoredRow, StoreFailure } from "../../runtime/ByteStore.ts";
import type { RangeSizes } from "../../runtime/RangeRows.ts";
import { HEAD_SEAL_VERSION, type IntegrityKey, sealCodec } from "../../runtime/RowSeal.ts";
import type { Verified } from "../../runtime/RowSum.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import type { FlushEnd } from "./LayeredDisk.ts";
import { forgedProof } from "./ForgedProof.ts";
import type { Alteration, PeerDisk } from "./PeerDisk.ts";
import { changedRange, type Content } from "./OlderRange.ts";
import { SimByteDisk } from "./SimByteDisk.ts";

/** So few rows that a run cuts and joins ranges, and writes all of them anew. */
const SIZES: RangeSizes = { most: 3, piece: 1, open: 3, changed: 24, slice: 2 };
/** Slices that are looked at at once. */
const LOOKED_AT = 4;

/** Transactions between two looks at all rows, for what is put back later. */
const COPIED_EVERY = 4;

/** Rows of a table among which one is found that lies somewhere else then. */
const MOST_OTHERS = 16;

/** Transactions in which seals that no row needs are gone, which were found when all rows were looked at. */
const TIDIED_WITHIN = 12;

const NOTHING: Content = new Map();

/** Makes the layer that seals: that of the runtime, unless a bug is planted there. */
export type MakeStore = (...made: ConstructorParameters<typeof SealedStore>) => SealedStore;

/** A row before something happened to it. */
interface Original {
  readonly table: TableName;
  readonly key: string;
  readonly value: StoredRow | undefined;
  /** The row that is there since; undefined where it was taken away. */
  readonly instead: StoredRow | undefined;
  /** Whether nobody who has the keys ever made it. */
  readonly isAltered?: boolean;
}

/** Keys of a table from one up to and with another, or to its end. */
interface Stretch {
  readonly table: TableName;
  readonly after: string;
  readonly upTo: string | undefined;
}

const isIn = ({ table, after, upTo }: Stretch, place: Original): boolean =>
  place.table === table && place.key >= after && (upTo === undefined || place.key <= upTo);

export class SealedDisk implements PeerDisk {
  readonly #bytes: SimByteDisk;
  readonly #crypto: Crypto;
  readonly #integrity: () => IntegrityKey | undefined;
  readonly #schema: () => Schema;
  readonly #through: (bytes: ByteStore) => ByteStore;
  readonly #originals = new Map<string, Original>();
  /** Rows before their last change. */
  readonly #older = new Map<string, Pick<Original, "table" | "key"> & { readonly row: StoredRow }>();
  /** All rows some transactions ago, and some more ago. */
  #before: readonly [Content, Content] = [NOTHING, NOTHING];
  #commits = 0;
  /** Transactions since all rows were looked at. */
  #tidied = 0;
  readonly #made: MakeStore;
  #store: SealedStore;
  /** The same rows without keys. */
  #watched: SealedStore;
  /** What a process has asked for until it was unsealed first. */
  #asked: Array<Stretch> | undefined = [];
  #isInUse = false;
  /** What somebody did to rows before the last unseal. */
  #harmed: ReadonlyArray<Original> = [];
  #believed: string | undefined;
  #alteredRow: string | undefined;
  #rest: Generator<Verified, string | undefined> | undefined;

  /**
   * @param integrity the integrity key of the peer this disk belongs to, once it has one
   * @param through what is between the sealing layer and the bytes: nothing, unless a bug is planted there
   */
  constructor(
    crypto: Crypto,
    integrity: () => IntegrityKey | undefined,
    schedule: () => void,
    durable: () => void,
    through: (bytes: ByteStore) => ByteStore = (bytes) => bytes,
    schema: () => Schema = () => tables,
    made: MakeStore = (...parts) => new SealedStore(...parts),
  ) {
    this.#crypto = crypto;
    this.#integrity = integrity;
    this.#bytes = new SimByteDisk(schedule, durable);
    this.#through = through;
    this.#schema = schema;
    this.#made = made;
    this.#store = made(through(this.#bytes), crypto, schema(), SIZES);
    this.#watched = this.#unproven();
  }

  #unproven(): SealedStore {
    return new SealedStore(this.#bytes, this.#crypto, this.#schema());
  }

  readonly atStart: RowView = {
    get: (table, key) => {
      this.#note({ table, after: key, upTo: key });
      return this.#given(table, key, this.#store.atStart.get(table, key));
    },
    scan: (table, after, limit) => {
      const page = this.#store.atStart.scan(table, after, limit);
      for (const { key, row } of page) this.#given(table, key, row);
      this.#note({ table, after: `${after} `, upTo: page.length < limit ? undefined : page.at(-1)?.key });
      return page;
    },
  };

  get watched(): RowView {
    return this.#watched;
  }

  readonly get = <T extends TableName>(table: T, key: string): Rows[T] | undefined => {
    const row = this.#store.get(table, key);
    this.#note({ table, after: key, upTo: key });
    return this.#given(table, key, row);
  };

  readonly scan = <T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> => {
    const page = this.#store.scan(table, after, limit);
    for (const { key, row } of page) this.#given(table, key, row);
    this.#note({ table, after: `${after} `, upTo: page.length < limit ? undefined : page.at(-1)?.key });
    return page;
  };

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> => {
    const page = this.#store.keys(table, from, limit);
    this.#note({ table, after: from, upTo: page.length < limit ? undefined : page.at(-1) });
    return page;
  };

  readonly commit = (writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void): void => {
    for (const { op, table, key } of writes) {
      const row = op === "insert" ? undefined : this.#bytes.layers.get(table, key);
      if (row !== undefined) this.#older.set(`${table}/${key}`, { table, key, row });
    }
    this.#commits += 1;
    if (this.#commits % COPIED_EVERY === 0) this.#before = [this.#bytes.layers.content, this.#before[0]];
    this.#tidied = this.#store.isWhole ? this.#tidied + 1 : 0;
    this.#store.commit(writes, (failure) => {
      // Without keys nobody hears of a new one but from the rows.
      if (writes.some(({ table }) => table === "integrity")) this.#watched = this.#unproven();
      done(failure);
    });
  };

  get flushing(): boolean {
    return this.#bytes.layers.flushing;
  }

  get isWhole(): boolean {
    return this.#store.isWhole;
  }

  get isVolatile(): boolean {
    return this.#bytes.layers.isVolatile;
  }

  endFlush(how: FlushEnd): void {
    this.#bytes.layers.endFlush(how);
  }

  crash(visible: boolean): void {
    this.#bytes.layers.crash(visible);
  }

  losePower(): void {
    this.#bytes.layers.losePower();
  }

  /** A new process knows nothing of the last one's caches. */
  open(): void {
    this.#bytes.layers.makeDurable();
    this.#store = this.#made(this.#through(this.#bytes), this.#crypto, this.#schema(), SIZES);
    this.#watched = this.#unproven();
    this.#asked = [];
    this.#believed = undefined;
    this.#alteredRow = undefined;
    this.#harmed = [];
  }

  useKey(present: boolean): void {
    this.#tidied = 0;
    this.#isInUse = false;
    this.#rest = undefined;
    this.#store.useKey(present ? this.#integrity() : undefined);
  }

  addKey(integrity: IntegrityKey): void {
    this.#store.addKey(integrity);
  }

  verify(): string | undefined {
    const pages = this.#store.verifyPages();
    let page = pages.next();
    while (page.done !== true) page = pages.next();
    this.#harmed = [...this.#originals.values()];
    this.#believed = this.#bytes.layers.isTorn ? "a transaction that lies there in part" : undefined;
    this.#isInUse = true;
    for (const asked of this.#asked ?? []) this.#note(asked);
    this.#asked = undefined;
    this.#rest = page.value === undefined ? this.#store.verifyRest() : undefined;
    return page.value;
  }

  get verifiesLater(): boolean {
    return this.#rest !== undefined;
  }

  verifyMore(): "more" | "whole" | { readonly fault: string } {
    for (let looked = 0; looked < LOOKED_AT; looked++) {
      const next = this.#rest?.next();
      if (next === undefined) return "whole";
      if (next.done !== true) continue;
      this.#rest = undefined;
      if (next.value !== undefined) return { fault: next.value };
      for (const each of this.#harmed) this.#believe(each);
      return "whole";
    }
    return "more";
  }

  get believed(): string | undefined {
    return this.#believed;
  }

  get isHarmedBefore(): boolean {
    const { size } = this.#originals;
    if (!this.#isInUse || size === 0 || this.#bytes.layers.isTorn) return false;
    return this.#harmed.filter(({ table, key }) => this.#originals.has(`${table}/${key}`)).length === size;
  }

  get alteredRow(): string | undefined {
    return this.#alteredRow;
  }

  readonly hasSeals = true;

  get unneededSeal(): string | undefined {
    if (!this.#store.isWhole || this.#tidied < TIDIED_WITHIN || this.#originals.size > 0) return undefined;
    const needed = new Set<string>();
    const { content } = this.#bytes.layers;
    for (const [table, rows] of content)
      for (const { seal } of table === "seals" || table === "ranges" ? [] : rows.values())
        needed.add(numberKey(Either.getOrThrow(decode(sealCodec, seal, HEAD_SEAL_VERSION)).transaction));
    return [...(content.get("seals")?.keys() ?? [])].find((key) => !needed.has(key));
  }

  /** Takes note of a row that the peer has got, where somebody has altered it. */
  #given<A>(table: TableName, key: string, row: A): A {
    if (this.#originals.size === 0 || row === undefined) return row;
    const original = this.#originals.get(`${table}/${key}`);
    if (original?.isAltered === true && this.#bytes.layers.get(table, key) === original.instead)
      this.#alteredRow ??= `${table}/${key}`;
    return row;
  }

  /** Takes note of what the peer has got without a word of damage. */
  #note(asked: Stretch): void {
    if (!this.#isInUse) {
      this.#asked?.push(asked);
      return;
    }
    for (const each of this.#harmed) if (isIn(asked, each)) this.#believe(each);
  }

  /** Unless the row is its own again. */
  #believe({ table, key, instead }: Original): void {
    if (this.#bytes.layers.get(table, key) === instead) this.#believed ??= `${table}/${key}`;
  }

  get harm(): string | undefined {
    for (const { table, key, instead } of this.#originals.values())
      if (this.#bytes.layers.get(table, key) === instead) return `${table}/${key}`;
    return this.#bytes.layers.isTorn ? "a transaction that lies there in part" : undefined;
  }

  readonly holds = (table: TableName, key: string): boolean => this.#bytes.layers.get(table, key) !== undefined;

  damage(table: TableName, key: string, at: number, how: Alteration = "a bit flipped"): void {
    const { layers } = this.#bytes;
    const value = layers.get(table, key);
    if (value === undefined) return;
    const instead = how === "a bit flipped" ? undefined : this.#exchanged(table, key, value, at, how);
    this.#put({ table, key, value, instead: instead ?? this.#flipped(value, at), isAltered: true });
  }

  /** Undefined where there is nothing that it could be exchanged for. */
  #exchanged(table: TableName, key: string, value: StoredRow, at: number, how: Alteration): StoredRow | undefined {
    const { layers } = this.#bytes;
    if (how === "a proof forged")
      return forgedProof(this.#crypto, (name) => layers.get("seals", name), table, key, value);
    const others = layers.scan(table, "", MOST_OTHERS).filter((each) => each.key !== key);
    return others[at % Math.max(1, others.length)]?.value;
  }

  #flipped(value: StoredRow, at: number): StoredRow {
    const instead = { row: new Uint8Array(value.row), seal: new Uint8Array(value.seal) };
    const place = at % (instead.row.length + instead.seal.length);
    const [bytes, index] =
      place < instead.row.length ? [instead.row, place] : [instead.seal, place - instead.row.length];
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    return instead;
  }

  tear(share: number): boolean {
    return this.#bytes.layers.tear(share);
  }

  remove(table: TableName, key: string): void {
    const value = this.#bytes.layers.get(table, key);
    if (value !== undefined) this.#put({ table, key, value, instead: undefined });
  }

  putOlder(at: number): boolean {
    const { layers } = this.#bytes;
    const changed = [...this.#older.values()].filter(({ table, key, row }) => layers.get(table, key) !== row);
    const hit = changed[at % Math.max(1, changed.length)];
    if (hit === undefined) return false;
    const { table, key, row } = hit;
    this.#put({ table, key, value: layers.get(table, key), instead: row });
    return true;
  }

  putOlderRange(at: number): boolean {
    const { layers } = this.#bytes;
    const now = layers.content;
    const [, then] = this.#before;
    const hit = changedRange(then, now, at);
    if (hit === undefined) return false;
    for (const content of [now, then])
      for (const [table, rows] of content)
        for (const key of rows.keys()) {
          const instead = then.get(table)?.get(key);
          const value = layers.get(table, key);
          if (hit.has(table, key) && value !== instead) this.#put({ table, key, value, instead });
        }
    // Behind all others, so that it counts.
    this.#put({ table: "ranges", key: "b9999999999999999", value: undefined, instead: hit.stored });
    return true;
  }

  repair(): void {
    // A row that the peer, unaware, has written or removed since is its own again.
    for (const { table, key, value, instead } of this.#originals.values())
      if (this.#bytes.layers.get(table, key) === instead) this.#bytes.layers.overwrite(table, key, value);
    this.#originals.clear();
    this.#bytes.layers.mend();
  }

  wipe(): void {
    this.#before = [NOTHING, NOTHING];
    this.#originals.clear();
    this.#older.clear();
    this.#bytes.layers.wipe();
  }

  photograph(): () => void {
    const restore = this.#bytes.layers.photograph();
    return () => {
      this.#originals.clear();
      restore();
    };
  }

  #put(original: Original): void {
    const { table, key, instead } = original;
    const name = `${table}/${key}`;
    if (this.#originals.has(name)) return;
    this.#originals.set(name, original);
    this.#bytes.layers.overwrite(table, key, instead);
  }
}
