/**
 * Rows that are written together, in one value beside the tables. Each row of a table says where its bytes are: with
 * those in the row itself, they are the row. A block that was damaged gives rows that do not hold.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { TableName } from "../../core/Tables.ts";
import { formOf } from "./Layout.ts";

/** Bytes of the rows in a block, before they are deflated: a row is read by inflating all of them. */
const BLOCK_BYTES = 16 * 1024;
/** More than any row has: nothing larger is inflated. */
const LARGEST_BYTES = 128 * 1024 * 1024;
/** Nearly as small as the smallest, for half the time: what repeats is whole digests. */
const LEVEL = 1;

/** A row that goes into a block. */
export interface BlockRow {
  readonly table: TableName;
  readonly row: Uint8Array;
}

export interface Block<R extends BlockRow> {
  readonly bytes: Uint8Array;
  /** What the bytes inflate to; null where they are the row. */
  readonly size: number | null;
  readonly rows: ReadonlyArray<R & { readonly at: number }>;
}

const shared = <R extends BlockRow>(rows: ReadonlyArray<R>): Block<R> => {
  let size = 0;
  const placed = rows.map((each) => {
    const at = size;
    size += each.row.length;
    return { ...each, at };
  });
  const whole = Buffer.concat(rows.map(({ row }) => row));
  return { bytes: deflateRawSync(whole, { level: LEVEL }), size, rows: placed };
};

/** The blocks of one transaction's rows, and the rows that stay in their tables. */
export const blocksOf = <R extends BlockRow>(
  rows: ReadonlyArray<R>,
): { readonly inline: ReadonlyArray<R>; readonly blocks: ReadonlyArray<Block<R>> } => {
  const inline: Array<R> = [];
  const blocks: Array<Block<R>> = [];
  let open: Array<R> = [];
  let size = 0;
  const close = (): void => {
    if (open.length > 0) blocks.push(shared(open));
    open = [];
    size = 0;
  };
  for (const each of rows) {
    const form = formOf(each.table, each.row.length);
    if (form === "inline") inline.push(each);
    if (form === "alone") blocks.push({ bytes: each.row, size: null, rows: [{ ...each, at: 0 }] });
    if (form !== "packed") continue;
    if (size + each.row.length > BLOCK_BYTES) close();
    open.push(each);
    size += each.row.length;
  }
  close();
  return { inline, blocks };
};

const NOTHING = new Uint8Array();

const inflated = (bytes: Uint8Array, size: unknown): Uint8Array => {
  if (size === null) return bytes;
  try {
    return inflateRawSync(bytes, { maxOutputLength: LARGEST_BYTES });
  } catch {
    return NOTHING;
  }
};

/** Reads rows in blocks, and remembers the block it read last: neighbours are read together. */
export class BlockReader {
  #bytes: Uint8Array = NOTHING;
  #whole: Uint8Array = NOTHING;

  /** The bytes of a row in a block of these bytes; of a damaged block fewer or others, whose seal does not hold. */
  rowIn(bytes: Uint8Array, size: unknown, at: unknown, length: unknown): Uint8Array {
    if (typeof at !== "number" || typeof length !== "number") return NOTHING;
    if (Buffer.compare(this.#bytes, bytes) !== 0) {
      this.#whole = inflated(bytes, size);
      this.#bytes = bytes;
    }
    // A copy: what is kept of it must not keep all of the block.
    return new Uint8Array(this.#whole.subarray(at, at + length));
  }
}
