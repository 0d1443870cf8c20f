/**
 * Which rows there are, in memory: a row that is gone, or was moved to another
 * key, is missed by the read that asks for it. Each is 52 bits of a keyed hash,
 * and nobody without the key can make two of them collide.
 */
import { record, text } from "../core/codec/Codec.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { TableName } from "../core/Tables.ts";
import { NumberSet } from "./NumberSet.ts";
import { RecentMap } from "./RecentMap.ts";

const PLACE_TAG = "CUSTODY_PLACE_V1";
const placeCodec = record({ table: text(32), key: text(512) });
const HEX_DIGITS = 13;
/** Places that were asked for of late: found again without a hash. */
const RECENT = 1_024;

export class KnownRows {
  readonly #crypto: Pick<Crypto, "mac">;
  readonly #secret: Uint8Array;
  readonly #places = new NumberSet();
  readonly #asked = new RecentMap<number>(RECENT);

  /** @param secret as secret as the integrity key */
  constructor(crypto: Pick<Crypto, "mac">, secret: Uint8Array) {
    this.#crypto = crypto;
    this.#secret = secret;
  }

  add(table: TableName, key: string): void {
    this.#places.add(this.#placeOf(table, key));
  }

  delete(table: TableName, key: string): void {
    this.#places.delete(this.#placeOf(table, key));
  }

  has(table: TableName, key: string): boolean {
    const name = `${table}/${key}`;
    let place = this.#asked.get(name);
    if (place === undefined) {
      place = this.#placeOf(table, key);
      this.#asked.set(name, place);
    }
    return this.#places.has(place);
  }

  #placeOf(table: TableName, key: string): number {
    const digits = this.#crypto.mac(this.#secret, PLACE_TAG, placeCodec, { table, key }).slice(0, HEX_DIGITS);
    return 1 + Number.parseInt(digits, 16);
  }
}
