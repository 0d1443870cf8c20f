/**
 * Ranges as rows: now and then all of them, and since then with each transaction those that it has changed. A
 * transaction changes some ten ranges in as many places; written there, each would cost a page. Beside the signed head
 * is a chain over these rows, in their order.
 */
import { Either } from "effect";
import type { Digest } from "../core/base/Digest.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import type { Codec } from "../core/codec/Codec.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import type { Rows } from "../core/Tables.ts";
import type { ByteStore, Change } from "./ByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { OPEN, type Replacement, type StoredRange } from "./Ranges.ts";
import { chainOf, NO_CHAIN } from "./RowSeal.ts";

const TABLE = "ranges";
const SCAN_PAGE = 64;
/** Ranges in one row of all: a few pages of the disk. */
const TOGETHER = 256;
const ALL = "a";
const CHANGED = "b";
const KEY = /^[ab]\d{16}$/;
const NO_SEAL = new Uint8Array(0);

/** How ranges are cut and kept; the smaller, the sooner a simulation has met all of it. */
export interface RangeSizes {
  /** Rows of a range, at most. */
  readonly most: number;
  /**
   * Rows of what a range is cut into, and read at once for that (`Cutting.ts`): every row is read, and again once these
   * are full, so there is much between the two.
   */
  readonly piece: number;
  /** Ranges that are open, at most: an unseal reads all of these before the first vote. */
  readonly open: number;
  /** Changed ranges that are kept beside all, at least, before all are written anew. */
  readonly changed: number;
  /** Rows after which the proof of a range that nobody waits for pauses: a few milliseconds. */
  readonly slice: number;
}

export const RANGE_SIZES: RangeSizes = { most: 2_048, piece: 64, open: 16, changed: 1_024, slice: 128 };

/** How ranges are stored after a transaction. */
export interface Written {
  readonly changes: ReadonlyArray<Change>;
  /** Over all these rows, to be signed with the head. */
  readonly chain: Digest;
  /** To be called once it is durable. */
  readonly done: () => void;
}

const storedOf = ({ after, rows, digest }: StoredRange): StoredRange => ({ after, rows, digest });

export class RangeRows {
  readonly #bytes: Pick<ByteStore, "scan">;
  readonly #crypto: Crypto;
  readonly #codec: Codec<Rows["ranges"]>;
  readonly #schema: Schema;
  readonly #sizes: RangeSizes;
  /** Rows that have all ranges, and keys of those that have changed ones. */
  #all = 0;
  #changes: Array<string> = [];
  #changed = 0;
  #chain: Digest = NO_CHAIN;

  constructor(bytes: Pick<ByteStore, "scan">, crypto: Crypto, schema: Schema, sizes: RangeSizes) {
    this.#bytes = bytes;
    this.#crypto = crypto;
    this.#schema = schema;
    this.#codec = schema.codecOf(TABLE) as Codec<Rows["ranges"]>;
    this.#sizes = sizes;
  }

  /**
   * Sorted, as the rows say; pauses after every page. Throws {@link IntegrityFailure} where they are not those of the
   * head.
   *
   * @param signed what was signed with the head, if it is over ranges
   */
  *read(signed = NO_CHAIN): Generator<number, ReadonlyArray<StoredRange>> {
    const found = new Map<string, StoredRange>();
    this.#all = 0;
    this.#changes = [];
    this.#changed = 0;
    this.#chain = NO_CHAIN;
    for (let after = ""; ; ) {
      const page = this.#bytes.scan(TABLE, after, SCAN_PAGE);
      for (const { key, value } of page) {
        const { ranges } = this.#decoded(key, value.row, value.seal);
        this.#chain = chainOf(this.#crypto, this.#chain, key, value.row);
        for (const range of ranges)
          if (range.rows > 0 || range.after === "") found.set(range.after, range);
          else found.delete(range.after);
        if (key.startsWith(ALL)) this.#all += 1;
        else {
          this.#changes.push(key);
          this.#changed += ranges.length;
        }
      }
      yield found.size;
      const last = page.at(-1);
      if (last === undefined || page.length < SCAN_PAGE) break;
      after = last.key;
    }
    if (this.#chain !== signed) throw new IntegrityFailure(TABLE, "they are not those that the head was signed for");
    return [...found.values()].toSorted((left, right) => (left.after < right.after ? -1 : 1));
  }

  /**
   * Stores what a transaction made of ranges.
   *
   * @param count how many ranges there were before it
   * @param ranges all of them, as they will be
   */
  write(
    transaction: number,
    replacements: ReadonlyArray<Replacement>,
    count: number,
    ranges: () => ReadonlyArray<StoredRange>,
  ): Written {
    const changed = replacements.flatMap(({ old, pieces }) => {
      const [first, ...more] = pieces;
      if (old.digest === OPEN && first?.digest === OPEN && more.length === 0) return [];
      const isGone = !pieces.some(({ after }) => after === old.after);
      return [...(isGone ? [{ ...storedOf(old), rows: 0 }] : []), ...pieces.map(storedOf)];
    });
    if (this.#all === 0 || this.#changed + changed.length > Math.max(this.#sizes.changed, count))
      return this.#anew(ranges());
    if (changed.length === 0) return { changes: [], chain: this.#chain, done: () => undefined };
    const key = CHANGED + numberKey(transaction);
    const row = this.#encoded(changed);
    const chain = chainOf(this.#crypto, this.#chain, key, row);
    return {
      changes: [{ op: "insert", table: TABLE, key, value: { row, seal: NO_SEAL } }],
      chain,
      done: () => {
        this.#changes.push(key);
        this.#changed += changed.length;
        this.#chain = chain;
      },
    };
  }

  #anew(all: ReadonlyArray<StoredRange>): Written {
    const count = Math.ceil(all.length / TOGETHER);
    const keyOf = (index: number): string => ALL + numberKey(index);
    const changes: Array<Change> = [];
    let chain = NO_CHAIN;
    for (let index = 0; index < count; index++) {
      const key = keyOf(index);
      const row = this.#encoded(all.slice(index * TOGETHER, (index + 1) * TOGETHER).map(storedOf));
      chain = chainOf(this.#crypto, chain, key, row);
      changes.push({
        op: index < this.#all ? "replace" : "insert",
        table: TABLE,
        key,
        value: { row, seal: NO_SEAL },
      });
    }
    for (let index = count; index < this.#all; index++) changes.push({ op: "remove", table: TABLE, key: keyOf(index) });
    for (const key of this.#changes) changes.push({ op: "remove", table: TABLE, key });
    return {
      changes,
      chain,
      done: () => {
        this.#all = count;
        this.#changes = [];
        this.#changed = 0;
        this.#chain = chain;
      },
    };
  }

  #encoded(ranges: ReadonlyArray<StoredRange>): Uint8Array {
    return encode(this.#codec, { ranges });
  }

  #decoded(key: string, row: Uint8Array, seal: Uint8Array): Rows["ranges"] {
    const decoded = decode(this.#codec, row, this.#schema.newest);
    if (Either.isLeft(decoded) || seal.length > 0 || !KEY.test(key))
      throw new IntegrityFailure(`${TABLE}/${key}`, "it is not as this peer wrote it");
    return decoded.right;
  }
}
