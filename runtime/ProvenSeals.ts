/**
 * The signatures that a verification of all rows has found valid. Each covers the rows of one transaction, which lie in
 * many tables far from each other; where there is a key to remember them by, each is verified once, however many there
 * are: 52 bits of a keyed hash of each are kept, which nobody without the key can make collide.
 */
import { digest, publicKey, record, signature, type TypeOf, uint } from "../core/codec/Codec.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import { NumberSet } from "./NumberSet.ts";
import { RecentMap } from "./RecentMap.ts";

const PROVEN_TAG = "CUSTODY_PROVEN_V1";
const provenCodec = record({ key: publicKey, transaction: uint, size: uint, root: digest, signature });
/** What a signature says of a transaction, and whose it is. */
export type Proven = TypeOf<typeof provenCodec>;

const HEX_DIGITS = 13;
/** Transactions of late: found again without a hash. */
const RECENT = 1_024;
/** The same where there is no key: some 20 MB at most. */
const RECENT_WITHOUT_KEY = 65_536;

export class ProvenSeals {
  readonly #crypto: Pick<Crypto, "mac">;
  readonly #secret: Uint8Array | undefined;
  readonly #recent: RecentMap<string>;
  readonly #all = new NumberSet();

  /** @param secret as secret as the integrity key */
  constructor(crypto: Pick<Crypto, "mac">, secret?: Uint8Array) {
    this.#crypto = crypto;
    this.#secret = secret;
    this.#recent = new RecentMap(secret === undefined ? RECENT_WITHOUT_KEY : RECENT);
  }

  has(proven: Proven): boolean {
    if (this.#recent.get(String(proven.transaction)) === textOf(proven)) return true;
    if (this.#secret === undefined || !this.#all.has(this.#numberOf(this.#secret, proven))) return false;
    this.#remember(proven);
    return true;
  }

  add(proven: Proven): void {
    this.#remember(proven);
    if (this.#secret !== undefined) this.#all.add(this.#numberOf(this.#secret, proven));
  }

  #remember(proven: Proven): void {
    this.#recent.set(String(proven.transaction), textOf(proven));
  }

  #numberOf(secret: Uint8Array, proven: Proven): number {
    return 1 + Number.parseInt(this.#crypto.mac(secret, PROVEN_TAG, provenCodec, proven).slice(0, HEX_DIGITS), 16);
  }
}

const textOf = ({ key, size, root, signature: signed }: Proven): string => `${key} ${size} ${root} ${signed}`;
