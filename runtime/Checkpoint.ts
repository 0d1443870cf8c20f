/**
 * What a peer knows of its rows, kept beside them so that an unseal need not read all of them: which there were after a
 * transaction, and what every later one changed, one frame behind the other. A frame is bound to all frames before it
 * and to the sum over all rows after its transaction: who has the integrity key believes them only where they end with
 * the very rows that the signed head stands for. Losing it costs time alone; it is written without a flush.
 */
import { Either } from "effect";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import { bytes, type Codec, digest, list, record, text, type TypeOf, uint } from "../core/codec/Codec.ts";
import { writtenIn } from "../core/codec/Versioned.ts";
import type { Digest } from "../core/base/Digest.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { IntegrityKey } from "./RowSeal.ts";

/** Where a checkpoint lies. What cannot be read or written there is as if it had never been. */
export interface CheckpointFile {
  readonly read: () => Uint8Array | undefined;
  /** Puts one frame, given in parts, in the place of everything; all or nothing of it. */
  readonly replace: (parts: ReadonlyArray<Uint8Array>) => void;
  readonly append: (parts: ReadonlyArray<Uint8Array>) => void;
}

const CHAIN_TAG = "CUSTODY_CHECKPOINT_V1";
const BOUND_TAG = "CUSTODY_CHECKPOINT_SUM_V1";
const VERSION = 1;
/** Far more than there can be rows. */
const MOST_BYTES = 2 ** 32;
const MOST_CHANGES = 2 ** 17;
const START = "0".repeat(64) as Digest;
const LENGTH_BYTES = 4;
const NO_ROWS = new Uint8Array(0);

const baseCodec = record({
  counts: list(record({ table: text(32), rows: uint }), 1024),
  /** See SealUses.ts. */
  uses: bytes(MOST_BYTES),
});
/** All rows after one transaction, those of KnownRows.ts apart: they may be a hundred megabytes. */
export type Base = TypeOf<typeof baseCodec>;

const changeCodec = record({
  /** The print of what lies at a place now; 0 where nothing does. */
  rows: list(record({ table: text(32), place: uint, print: uint }), MOST_CHANGES),
  /** By transaction: the rows that it wrote, and one less for each of older ones that was replaced or removed. */
  released: list(uint, MOST_CHANGES),
  written: uint,
  unused: list(uint, MOST_CHANGES),
});
/** What one transaction changed. */
export type RowChanges = TypeOf<typeof changeCodec>;

const frameCodec = writtenIn(
  VERSION,
  record({
    transaction: uint,
    content: bytes(MOST_BYTES),
    /** So many bytes of rows follow the frame. */
    rows: uint,
    chain: digest,
    bound: digest,
  }),
);
const chainCodec = record({ before: digest, transaction: uint, content: digest, rows: digest });
const boundCodec = record({ chain: digest, transaction: uint, sum: digest });

/** The rows after a transaction, as the signed head knows them. */
export interface Moment {
  readonly transaction: number;
  readonly sum: Digest;
}

/** What the frames of a file say, where they end with a moment. */
export interface Checkpoint {
  readonly base: Base;
  readonly rows: Uint8Array;
  /** Of the transaction after it, and so on. */
  readonly changes: ReadonlyArray<RowChanges>;
  /** What the next frame is chained to. */
  readonly end: Digest;
  /** Whether nothing lies behind the last of these frames. */
  readonly isWhole: boolean;
}

type Keyed = Pick<IntegrityKey, "setKey">;

const chained = (
  crypto: Crypto,
  { setKey }: Keyed,
  before: Digest,
  transaction: number,
  content: Uint8Array,
  rows: Uint8Array,
): Digest =>
  crypto.mac(setKey, CHAIN_TAG, chainCodec, {
    before,
    transaction,
    content: crypto.sha256(content),
    rows: crypto.sha256(rows),
  });

const boundTo = (crypto: Crypto, { setKey }: Keyed, chain: Digest, { transaction, sum }: Moment): Digest =>
  crypto.mac(setKey, BOUND_TAG, boundCodec, { chain, transaction, sum });

/** A frame behind others, in parts, and what the next one is chained to. */
export interface Frame {
  readonly parts: ReadonlyArray<Uint8Array>;
  readonly end: Digest;
}

const frameOf = (
  crypto: Crypto,
  key: Keyed,
  before: Digest,
  moment: Moment,
  content: Uint8Array,
  rows: Uint8Array,
): Frame => {
  const { transaction } = moment;
  const chain = chained(crypto, key, before, transaction, content, rows);
  const bound = boundTo(crypto, key, chain, moment);
  const head = encode(frameCodec, { transaction, content, rows: rows.length, chain, bound });
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, head.length);
  return { parts: [length, head, rows], end: bound };
};

export const baseFrame = (crypto: Crypto, key: Keyed, moment: Moment, base: Base, rows: Uint8Array): Frame =>
  frameOf(crypto, key, START, moment, encode(baseCodec, base), rows);

export const changeFrame = (crypto: Crypto, key: Keyed, before: Digest, moment: Moment, changes: RowChanges): Frame =>
  frameOf(crypto, key, before, moment, encode(changeCodec, changes), NO_ROWS);

/** The frames of a file, up to the first that is not whole. */
function* framesIn(file: Uint8Array) {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  for (let at = 0; at + LENGTH_BYTES <= file.length; ) {
    const end = at + LENGTH_BYTES + view.getUint32(at);
    if (end > file.length) return;
    const frame = decode(frameCodec, file.subarray(at + LENGTH_BYTES, end), VERSION);
    if (Either.isLeft(frame) || end + frame.right.rows > file.length) return;
    at = end + frame.right.rows;
    yield { ...frame.right, rowBytes: file.subarray(end, at), isLast: at === file.length };
  }
}

const contentOf = <A>(codec: Codec<A>, content: Uint8Array): A | undefined => {
  const read = decode(codec, content, VERSION);
  return Either.isRight(read) ? read.right : undefined;
};

/** The frames up to a moment; undefined where they do not lead there, or are not what this peer wrote. */
export const readCheckpoint = (
  crypto: Crypto,
  key: Keyed,
  file: Uint8Array,
  moment: Moment,
): Checkpoint | undefined => {
  let end = START;
  let base: Pick<Checkpoint, "base" | "rows"> | undefined;
  let last = 0;
  const changes: Array<RowChanges> = [];
  for (const { transaction, content, rowBytes, chain: said, bound, isLast } of framesIn(file)) {
    const chain = chained(crypto, key, end, transaction, content, rowBytes);
    end = bound;
    if (chain !== said || transaction > moment.transaction) return undefined;
    if (base === undefined) {
      const read = contentOf(baseCodec, content);
      if (read === undefined) return undefined;
      base = { base: read, rows: rowBytes };
    } else {
      const read = contentOf(changeCodec, content);
      if (read === undefined || transaction !== last + 1) return undefined;
      changes.push(read);
    }
    last = transaction;
    if (transaction < moment.transaction) continue;
    if (bound !== boundTo(crypto, key, chain, moment)) return undefined;
    return { ...base, changes, end, isWhole: isLast };
  }
  return undefined;
};
