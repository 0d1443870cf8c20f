/**
 * Which rows there are and what lies in them, in memory: a row that is gone, or was moved to another key, is missed by
 * the read that asks for it. Of each it has 52 bits of a keyed hash of its place and 32 of its element, and nobody
 * without the key can make two of them collide.
 */
import { record, text } from "../core/codec/Codec.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { TableName } from "../core/Tables.ts";
import { NumberMap } from "./NumberMap.ts";
import { RecentMap } from "./RecentMap.ts";

const PLACE_TAG = "CUSTODY_PLACE_V1";
const placeCodec = record({ table: text(32), key: text(512) });
const HEX_DIGITS = 13;
/** Places that were asked for of late: found again without a hash. */
const RECENT = 1_024;
/** Of a row among the bytes: its place in two parts, the higher first, then its print. */
const ROW_BYTES = 12;

/** Part of a row's element (RowSeal.ts): tells it from every other row that was ever at its place. */
export const printOf = (element: bigint): number => Number(BigInt.asUintN(32, element)) || 1;

export class KnownRows {
  readonly #crypto: Pick<Crypto, "mac">;
  readonly #secret: Uint8Array;
  readonly #places: NumberMap;
  readonly #counts: Map<TableName, number>;
  readonly #asked = new RecentMap<number>(RECENT);

  /**
   * @param secret as secret as the integrity key
   * @param rows what {@link bytes} and {@link counts} gave
   */
  constructor(
    crypto: Pick<Crypto, "mac">,
    secret: Uint8Array,
    rows?: { readonly bytes: Uint8Array; readonly counts: ReadonlyMap<TableName, number> },
  ) {
    this.#crypto = crypto;
    this.#secret = secret;
    this.#counts = new Map(rows?.counts);
    const length = rows?.bytes.length ?? 0;
    this.#places = new NumberMap(length / ROW_BYTES);
    if (rows === undefined) return;
    const view = new DataView(rows.bytes.buffer, rows.bytes.byteOffset, length);
    for (let at = 0; at + ROW_BYTES <= length; at += ROW_BYTES)
      this.#places.set(view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4), view.getUint32(at + 8));
  }

  /** Rows of each table. */
  get counts(): ReadonlyMap<TableName, number> {
    return this.#counts;
  }

  /** All of them as one text of bytes, 12 each, in no order. */
  bytes(): Uint8Array {
    const view = new DataView(new ArrayBuffer(this.#places.size * ROW_BYTES));
    let at = 0;
    this.#places.forEach((place, print) => {
      view.setUint32(at, Math.floor(place / 2 ** 32));
      view.setUint32(at + 4, place % 2 ** 32);
      view.setUint32(at + 8, print);
      at += ROW_BYTES;
    });
    return new Uint8Array(view.buffer);
  }

  /** A row that is there, or lies there now instead of another one. */
  set(table: TableName, key: string, element: bigint): void {
    this.put(table, this.placeOf(table, key), printOf(element));
  }

  delete(table: TableName, key: string): void {
    this.put(table, this.placeOf(table, key), 0);
  }

  /** What lies at a place of a table now, by its print: 0 for nothing. */
  put(table: TableName, place: number, print: number): void {
    if (print === 0) {
      if (this.#places.delete(place)) this.#count(table, -1);
    } else if (this.#places.set(place, print)) this.#count(table, 1);
  }

  /** The print of the row there; undefined where there is none. */
  printAt(table: TableName, key: string): number | undefined {
    const name = `${table}/${key}`;
    let place = this.#asked.get(name);
    if (place === undefined) {
      place = this.placeOf(table, key);
      this.#asked.set(name, place);
    }
    return this.#places.get(place) || undefined;
  }

  #count(table: TableName, rows: number): void {
    this.#counts.set(table, (this.#counts.get(table) ?? 0) + rows);
  }

  /** What stands for a row's place; means nothing to who has not the key. */
  placeOf(table: TableName, key: string): number {
    const digits = this.#crypto.mac(this.#secret, PLACE_TAG, placeCodec, { table, key }).slice(0, HEX_DIGITS);
    return 1 + Number.parseInt(digits, 16);
  }
}
