/**
 * The protection of rows at rest: one signature of the integrity key per
 * transaction, over the digests of the rows it wrote, in a row of the table
 * `seals`; each of these rows names its transaction. And a keyed digest over all
 * rows, so that a deleted or outdated row is noticed when the peer starts
 * (contract 10.3, protocol.md "Keys").
 */
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { bytes, type Codec, digest, list, record, signature, text, type TypeOf, uint } from "../core/codec/Codec.ts";
import { writtenIn } from "../core/codec/Versioned.ts";
import type { Crypto, Signer } from "../core/crypto/Crypto.ts";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import { impliedRoot } from "../core/protocol/Merkle.ts";
import { LEAVES_BYTES, NAME_CHARACTERS } from "../core/protocol/Tables.ts";
import type { Rows, TableName } from "../core/Tables.ts";

const ROW_TAG = "CUSTODY_ROW_V1";
const FIRST_SEAL_TAG = "CUSTODY_ROW_SEAL_V1";
const SEAL_TAG = "CUSTODY_ROW_SEAL_V2";
const LEAVES_TAG = "CUSTODY_ROW_LEAVES_V1";
const HEAD_TAG = "CUSTODY_HEAD_V1";
const MASK_TAG = "CUSTODY_HEAD_MASK_V1";
const RANGE_TAG = "CUSTODY_RANGE_V1";
const OPEN_TAG = "CUSTODY_OPEN_RANGES_V1";
const CHAIN_TAG = "CUSTODY_RANGES_CHAIN_V1";
const ROW_BYTES = 64 * 1024 * 1024;
const LEAF_BYTES = 32;

/** The integrity key while it is in memory. */
export interface IntegrityKey extends Signer {
  /** Keys the digest over all rows: one for all keys of a peer, as secret as they are, and not derivable from them. */
  readonly setKey: Uint8Array;
}

const rowCodec = record({ table: text(32), key: text(512), transaction: uint, row: bytes(ROW_BYTES) });
/** The newest version of the seal, which has nothing to do with that of the row. */
export const SEAL_VERSION = 2;
/** The version beside a head that is over ranges of rows; before it was over the rows themselves. No other row has it. */
export const HEAD_SEAL_VERSION = 3;
const firstSignedCodec = writtenIn(1, record({ transaction: uint, size: uint, root: digest }));
const signedCodec = writtenIn(SEAL_VERSION, record({ transaction: uint, leaves: digest }));
const leavesCodec = bytes(LEAVES_BYTES);

const firstCodec = record({
  /** Names the key among those this peer ever used. */
  keyVersion: uint,
  transaction: uint,
  index: uint,
  size: uint,
  /** Sixteen levels: no transaction wrote more rows than they cover. */
  proof: list(digest, 16),
  root: digest,
  signature,
});
/** What each row carried in version 1: its own proof. */
export type FirstSeal = TypeOf<typeof firstCodec>;

const secondCodec = record({ transaction: uint });
const thirdCodec = record({ transaction: uint, chain: digest });

/** What lies beside a row: which transaction wrote it, and in version 1 the proof of that. */
export interface Seal {
  readonly transaction: number;
  readonly own: FirstSeal | undefined;
  /** Beside a head over ranges: stands for all rows of these. */
  readonly chain: Digest | undefined;
}

/** Writes version 2, reads version 1 too, and what lies beside the head. */
export const sealCodec: Codec<Seal> = {
  write: writtenIn(SEAL_VERSION, secondCodec).write,
  read: (source) => {
    const version = source.version();
    if (version === HEAD_SEAL_VERSION) return { ...thirdCodec.read(source), own: undefined };
    const own = version === 1 ? firstCodec.read(source) : undefined;
    return { transaction: own?.transaction ?? secondCodec.read(source).transaction, own, chain: undefined };
  },
};

/** What lies beside the head. */
export const headSealCodec = writtenIn(HEAD_SEAL_VERSION, thirdCodec);

export interface PlainRow {
  readonly table: TableName;
  readonly key: string;
  readonly row: Uint8Array;
}

/** Which key sealed a row, and in which transaction. */
export type Sealing = Pick<FirstSeal, "keyVersion" | "transaction">;

/** The digest of a row at its place and time: what the seal proves and the head adds up. */
export const leafOf = (crypto: Crypto, transaction: number, { table, key, row }: PlainRow): Digest =>
  crypto.digest(ROW_TAG, rowCodec, { table, key, transaction, row });

/** The digest of a head over ranges: the chain of these in place of its key, so that whoever signs it signs them. */
export const headLeafOf = (crypto: Crypto, transaction: number, chain: Digest, row: Uint8Array): Digest =>
  leafOf(crypto, transaction, { table: "head", key: chain, row });

const signedOf = (crypto: Crypto, transaction: number, leaves: Uint8Array) => ({
  transaction,
  leaves: crypto.digest(LEAVES_TAG, leavesCodec, leaves),
});

/** Seals all rows of one transaction, given by their leaves, with one signature of the key of a version. */
export const sealRows = (
  crypto: Crypto,
  integrity: IntegrityKey,
  keyVersion: number,
  transaction: number,
  rows: ReadonlyArray<Digest>,
): Rows["seals"] => {
  const leaves = concatBytes(...rows.map(hexToBytes));
  return {
    keyVersion,
    leaves,
    signature: integrity.sign(SEAL_TAG, signedCodec, signedOf(crypto, transaction, leaves)),
  };
};

/** Whether the holder of the key sealed a transaction so; the caller knows which key it must be. */
export const isSigned = (
  crypto: Crypto,
  key: PublicKey,
  transaction: number,
  { leaves, signature: signed }: Rows["seals"],
): boolean => crypto.verify(key, SEAL_TAG, signedCodec, signedOf(crypto, transaction, leaves), signed);

/** Whether a row, given by its {@link leafOf leaf}, is one of those that a transaction wrote. */
export const isAmong = (leaf: Digest, { leaves }: Rows["seals"]): boolean => {
  const wanted = hexToBytes(leaf);
  for (let at = 0; at + LEAF_BYTES <= leaves.length; at += LEAF_BYTES) {
    let same = 0;
    while (same < LEAF_BYTES && leaves[at + same] === wanted[same]) same += 1;
    if (same === LEAF_BYTES) return true;
  }
  return false;
};

/** Whether a row that carries its own proof is exactly what the holder of the key wrote under this table and key. */
export const isSealed = (crypto: Crypto, key: PublicKey, leaf: Digest, seal: FirstSeal): boolean => {
  const { transaction, index, size, proof, root, signature: signed } = seal;
  return (
    impliedRoot(crypto, leaf, index, size, proof) === root &&
    crypto.verify(key, FIRST_SEAL_TAG, firstSignedCodec, { transaction, size, root }, signed)
  );
};

/**
 * A row's share of the digest over all rows: a keyed value that adds up modulo
 * 2^256 (MSet-Add-Hash of Clarke et al., 2003). Without the key nobody can make
 * another set of rows add up to the same sum.
 */
export const elementOf = (crypto: Crypto, integrity: IntegrityKey, leaf: Digest): bigint =>
  BigInt(`0x${crypto.mac(integrity.setKey, HEAD_TAG, digest, leaf)}`);

const rangeCodec = record({ after: text(NAME_CHARACTERS), rows: uint, sum: digest });
const openCodec = record({ transactions: uint, rows: uint, open: uint, sum: digest });

/** A number below 2^256 as a digest is written. */
export const asDigest = (sum: bigint): Digest => sum.toString(16).padStart(64, "0") as Digest;

/** What stands for the rows of a range: shows nothing of their sum, and nobody without the key makes another. */
export const rangeDigestOf = (
  crypto: Crypto,
  integrity: IntegrityKey,
  after: string,
  rows: number,
  sum: bigint,
): Digest => crypto.mac(integrity.setKey, RANGE_TAG, rangeCodec, { after, rows, sum: asDigest(sum) });

/** What stands for no row of ranges. */
export const NO_CHAIN = "0".repeat(64) as Digest;
const chainCodec = record({ before: digest, key: text(32), row: bytes(ROW_BYTES) });

/** What stands for rows of ranges, in their order, once there is one more. */
export const chainOf = (crypto: Crypto, before: Digest, key: string, row: Uint8Array): Digest =>
  crypto.digest(CHAIN_TAG, chainCodec, { before, key, row });

/** What the digest in a head is over. */
export interface OverOpen {
  readonly transactions: number;
  readonly rows: number;
  /** Rows in open ranges, and the sum of their elements. */
  readonly open: number;
  readonly sum: bigint;
}

/** What the head has of open ranges. */
export const openDigestOf = (crypto: Crypto, integrity: IntegrityKey, { sum, ...head }: OverOpen): Digest =>
  crypto.mac(integrity.setKey, OPEN_TAG, openCodec, { ...head, sum: asDigest(sum) });

/**
 * What hides the sum in a head from before there were ranges (the nonce term of MSet-Add-Hash): bare sums would reveal
 * single rows.
 */
export const maskOf = (crypto: Crypto, integrity: IntegrityKey, transaction: number): bigint =>
  BigInt(`0x${crypto.mac(integrity.setKey, MASK_TAG, uint, transaction)}`);
