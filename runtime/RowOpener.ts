/**
 * Stored rows on their way up: the seal of each is verified, then it is decoded. A row that does not hold is never
 * returned.
 */
import { Either } from "effect";
import { sameBytes } from "../core/codec/Bytes.ts";
import { decode, versionOf } from "../core/codec/CborReader.ts";
import type { Codec } from "../core/codec/Codec.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { numberKey, SELF } from "../core/protocol/Tables.ts";
import type { Rows, TableName } from "../core/Tables.ts";
import type { ByteStore, StoredRow } from "./ByteStore.ts";
import { KeyHistory } from "./KeyHistory.ts";
import { IntegrityFailure, UnreadableRow } from "./PeerStore.ts";
import { RecentMap } from "./RecentMap.ts";
import {
  HEAD_SEAL_VERSION,
  headLeafOf,
  isAmong,
  isSealed,
  isSigned,
  leafOf,
  type Seal,
  SEAL_VERSION,
  sealCodec,
  type Sealing,
} from "./RowSeal.ts";

/** Verified seals of transactions: rows that are read together were mostly written together. */
const REMEMBERED = 256;
const NOTHING = new Uint8Array(0);
const UNREADABLE_SEAL = "the seal cannot be read";

/** A stored row whose seal holds. */
export interface OpenRow<T extends TableName> {
  readonly value: Rows[T];
  readonly stored: StoredRow;
  readonly seal: Sealing;
  readonly leaf: Digest;
  /** The transaction whose row of `seals` proves it, unless it carries its own proof. */
  readonly sealedIn: number | undefined;
}

export class RowOpener {
  readonly history: KeyHistory;
  readonly #bytes: Pick<ByteStore, "get" | "scan">;
  readonly #crypto: Crypto;
  readonly #schema: Schema;
  /** By key. What is on the disk under it may be another row since; what it proved stays proven until it goes. */
  readonly #seals = new RecentMap<Rows["seals"]>(REMEMBERED);

  constructor(bytes: Pick<ByteStore, "get" | "scan">, crypto: Crypto, schema: Schema) {
    this.#bytes = bytes;
    this.#crypto = crypto;
    this.#schema = schema;
    this.history = new KeyHistory({
      first: () => this.#firstKey(),
      after: (key) => this.#bytes.scan("integrity", key, 1)[0],
      open: (key, value) => this.open("integrity", key, value),
    });
  }

  /** Verifies seals of transactions anew, as they lie on the disk. */
  forget(): void {
    this.#seals.clear();
  }

  /** The seal is gone, and with it whatever it proved. */
  end(key: string): void {
    this.#seals.delete(key);
  }

  /** A seal that was made just now. */
  remember(key: string, sealed: Rows["seals"]): void {
    this.#seals.set(key, sealed);
  }

  /** What lies beside a row. Throws where it cannot be read. */
  sealOf(where: string, sealed: Uint8Array, newest = SEAL_VERSION): Seal {
    const decoded = decode(sealCodec, sealed, newest);
    if (Either.isLeft(decoded)) throw this.#misread(where, UNREADABLE_SEAL, "seal", sealed, HEAD_SEAL_VERSION);
    return decoded.right;
  }

  /** Throws {@link IntegrityFailure} where the seal does not hold, {@link UnreadableRow} where a later program wrote it. */
  open<T extends TableName>(table: T, key: string, stored: StoredRow): OpenRow<T> {
    const where = `${table}/${key}`;
    const newest = table === "head" ? HEAD_SEAL_VERSION : SEAL_VERSION;
    const { transaction, own, chain } = this.sealOf(where, stored.seal, newest);
    const leaf =
      chain === undefined
        ? leafOf(this.#crypto, transaction, { table, key, row: stored.row })
        : headLeafOf(this.#crypto, transaction, chain, stored.row);
    if (own !== undefined) {
      if (!isSealed(this.#crypto, this.history.publicKey(where, own), leaf, own)) throw unsealed(where);
      return { value: this.#meant(table, where, stored.row), stored, seal: own, leaf, sealedIn: undefined };
    }
    if (table === "seals") {
      const sealed = this.#openSeal(key, stored);
      // The row of a seal is its value; the compiler cannot see it for a table it does not know.
      const value = sealed as Rows["seals"] as Rows[T];
      return { value, stored, seal: { keyVersion: sealed.keyVersion, transaction }, leaf, sealedIn: undefined };
    }
    const sealed = this.#transactionSeal(where, transaction);
    if (!isAmong(leaf, sealed)) throw unsealed(where);
    const value = this.#meant(table, where, stored.row);
    return { value, stored, seal: { keyVersion: sealed.keyVersion, transaction }, leaf, sealedIn: transaction };
  }

  /**
   * A row that was read while the next transaction may be written: that can take away the seal of a row which it
   * replaces or removes. Undefined where the row is gone; throws as {@link open} does.
   */
  openCurrent<T extends TableName>(table: T, key: string, stored: StoredRow): OpenRow<T> | undefined {
    try {
      return this.open(table, key, stored);
    } catch (fault) {
      const current = this.#bytes.get(table, key);
      if (current === undefined) return undefined;
      if (sameBytes(current.row, stored.row) && sameBytes(current.seal, stored.seal)) throw fault;
      return this.openCurrent(table, key, current);
    }
  }

  /** What a transaction wrote, by its verified seal. */
  #transactionSeal(where: string, transaction: number): Rows["seals"] {
    const key = numberKey(transaction);
    const known = this.#seals.get(key);
    if (known !== undefined) return known;
    const stored = this.#bytes.get("seals", key);
    if (stored === undefined) throw new IntegrityFailure(where, `the seal does not hold: there is no seals/${key}`);
    const sealed = this.#openSeal(key, stored);
    this.#seals.set(key, sealed);
    return sealed;
  }

  /** The seal of a transaction as it lies there, which is signed, and by the key of that time. */
  #openSeal(key: string, { row, seal }: StoredRow): Rows["seals"] {
    const where = `seals/${key}`;
    const { transaction, own } = this.sealOf(where, seal);
    const decoded = this.#decoded("seals", row);
    if (Either.isLeft(decoded)) throw this.#misread(where, UNREADABLE_SEAL, "row", row, this.#schema.newest);
    if (key !== numberKey(transaction) || own !== undefined) throw unsealed(where);
    const publicKey = this.history.publicKey(where, { keyVersion: decoded.right.keyVersion, transaction });
    if (!isSigned(this.#crypto, publicKey, transaction, decoded.right)) throw unsealed(where);
    return decoded.right;
  }

  /** A later program writes the head with every transaction: where that is none of its, a claim to be later is damage. */
  #misread(where: string, why: string, part: keyof StoredRow, bytes: Uint8Array, newest: number): Error {
    const head = this.#bytes.get("head", SELF);
    const isLater = head === undefined || versionOf(head[part]) > newest;
    return unverified(where, why, isLater ? bytes : NOTHING, newest);
  }

  /** The value of a row whose seal holds. */
  #meant<T extends TableName>(table: T, where: string, row: Uint8Array): Rows[T] {
    const value = this.#decoded(table, row);
    // This very peer wrote it: another program must have been at work.
    if (Either.isLeft(value)) throw new UnreadableRow(where, value.left);
    return value.right;
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
    const why = "the row that names the integrity key cannot be read";
    throw this.#misread("peer/self", why, "row", stored.row, this.#schema.newest);
  }
}

/** The fault of bytes that cannot be read and that nobody vouches for: at least they may claim a later version. */
const unverified = (where: string, why: string, bytes: Uint8Array, newest: number): Error => {
  const version = versionOf(bytes);
  return version > newest
    ? new UnreadableRow(where, `version ${version}, where ${newest} is the newest known`)
    : new IntegrityFailure(where, why);
};

const unsealed = (where: string): IntegrityFailure => new IntegrityFailure(where, "the seal does not hold");
