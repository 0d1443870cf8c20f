/**
 * Which rows there are, in memory: a row that is gone, or was moved to another
 * key, is missed by the read that asks for it. Each is 52 bits of a keyed hash,
 * and nobody without the key can make two of them collide.
 */
import { text } from "../core/codec/Codec.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { TableName } from "../core/Tables.ts";
import { NumberSet } from "./NumberSet.ts";
import { RecentMap } from "./RecentMap.ts";

const PLACE_TAG = "CUSTODY_PLACE_V1";
/** 128 bits of a key. */
const KEY_DIGITS = 32;
const HEX_DIGITS = 13;
/** Places that were asked for of late: found again without a hash. */
const RECENT = 1_024;

export class KnownRows {
  readonly #crypto: Pick<Crypto, "sha256OfText">;
  /**
   * Before every name that is hashed: a third of the cost of a MAC. The start of the hash keys it as well, for nobody
   * is shown a hash that could be continued.
   */
  readonly #prefix: string;
  readonly #places = new NumberSet();
  readonly #asked = new RecentMap<number>(RECENT);

  /** @param secret as secret as the integrity key */
  constructor(crypto: Pick<Crypto, "mac" | "sha256OfText">, secret: Uint8Array) {
    this.#crypto = crypto;
    this.#prefix = crypto.mac(secret, PLACE_TAG, text(0), "").slice(0, KEY_DIGITS);
  }

  add(table: TableName, key: string): void {
    this.#places.add(this.#placeOf(`${table}/${key}`));
  }

  delete(table: TableName, key: string): void {
    this.#places.delete(this.#placeOf(`${table}/${key}`));
  }

  has(table: TableName, key: string): boolean {
    const name = `${table}/${key}`;
    let place = this.#asked.get(name);
    if (place === undefined) {
      place = this.#placeOf(name);
      this.#asked.set(name, place);
    }
    return this.#places.has(place);
  }

  #placeOf(name: string): number {
    return 1 + Number.parseInt(this.#crypto.sha256OfText(this.#prefix + name).slice(0, HEX_DIGITS), 16);
  }
}
