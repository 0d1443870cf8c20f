/**
 * The protection of rows at rest: one signature of the integrity key per
 * transaction, over a Merkle tree of its rows, so each row carries its own
 * proof; and a keyed digest over all rows, so that a deleted or outdated row is
 * noticed when the peer starts (contract 10.3, protocol.md "Keys").
 */
import { bytes, digest, list, record, signature, text, type TypeOf, uint } from "../core/codec/Codec.ts";
import { writtenIn } from "../core/codec/Versioned.ts";
import type { Crypto, Signer } from "../core/crypto/Crypto.ts";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import { impliedRoot, merkleTree } from "../core/protocol/Merkle.ts";
import type { TableName } from "../core/Tables.ts";
import type { ProvenSeals } from "./ProvenSeals.ts";

const ROW_TAG = "CUSTODY_ROW_V1";
const SEAL_TAG = "CUSTODY_ROW_SEAL_V1";
const HEAD_TAG = "CUSTODY_HEAD_V1";
const MASK_TAG = "CUSTODY_HEAD_MASK_V1";
const ROW_BYTES = 64 * 1024 * 1024;

/** The integrity key while it is in memory. */
export interface IntegrityKey extends Signer {
  /** Keys the digest over all rows. As secret as the private key, and not derivable from it. */
  readonly setKey: Uint8Array;
}

const rowCodec = record({ table: text(32), key: text(512), transaction: uint, row: bytes(ROW_BYTES) });
/** The version of the seal, which has nothing to do with that of the row. */
export const SEAL_VERSION = 1;
const signedCodec = writtenIn(SEAL_VERSION, record({ transaction: uint, size: uint, root: digest }));

export const sealCodec = writtenIn(
  SEAL_VERSION,
  record({
    /** Names the key among those this peer ever used. */
    keyVersion: uint,
    transaction: uint,
    index: uint,
    size: uint,
    /** Sixteen levels: no transaction writes more rows than they cover. */
    proof: list(digest, 16),
    root: digest,
    signature,
  }),
);
export type Seal = TypeOf<typeof sealCodec>;

export interface PlainRow {
  readonly table: TableName;
  readonly key: string;
  readonly row: Uint8Array;
}

/** The digest of a row at its place and time: what the seal proves and the head adds up. */
export const leafOf = (crypto: Crypto, transaction: number, { table, key, row }: PlainRow): Digest =>
  crypto.digest(ROW_TAG, rowCodec, { table, key, transaction, row });

/** Seals all rows of one transaction, given by their leaves, with one signature of the key of a version. */
export const sealRows = (
  crypto: Crypto,
  integrity: IntegrityKey,
  keyVersion: number,
  transaction: number,
  leaves: ReadonlyArray<Digest>,
): ReadonlyArray<Seal> => {
  const { root, proofs } = merkleTree(crypto, leaves);
  const size = leaves.length;
  const signed = integrity.sign(SEAL_TAG, signedCodec, { transaction, size, root });
  return proofs.map((proof, index) => ({
    keyVersion,
    transaction,
    index,
    size,
    proof,
    root,
    signature: signed,
  }));
};

/**
 * Whether a row, given by its {@link leafOf leaf}, is exactly what the holder of the key wrote under this table and
 * key; the caller knows which key it must be. Rows of one transaction share one signature: `proven` remembers verified
 * ones, for callers that check many rows.
 */
export const isSealed = (crypto: Crypto, key: PublicKey, leaf: Digest, seal: Seal, proven?: ProvenSeals): boolean => {
  const { transaction, index, size, proof, root, signature } = seal;
  if (impliedRoot(crypto, leaf, index, size, proof) !== root) return false;
  const claim = { key, transaction, size, root, signature };
  if (proven?.has(claim) === true) return true;
  const isSigned = crypto.verify(key, SEAL_TAG, signedCodec, { transaction, size, root }, signature);
  if (isSigned) proven?.add(claim);
  return isSigned;
};

/**
 * A row's share of the digest over all rows: a keyed value that adds up modulo
 * 2^256 (MSet-Add-Hash of Clarke et al., 2003). Without the key nobody can make
 * another set of rows add up to the same sum.
 */
export const elementOf = (crypto: Crypto, integrity: IntegrityKey, leaf: Digest): bigint =>
  BigInt(`0x${crypto.mac(integrity.setKey, HEAD_TAG, digest, leaf)}`);

/**
 * What hides the sum in the stored head (the nonce term of MSet-Add-Hash): bare sums would reveal single rows. A
 * restored backup goes on counting its transactions from where it was, so numbers repeat; why that reveals nothing of
 * use: docs/decisions/0006-integrity-per-transaction.md.
 */
export const maskOf = (crypto: Crypto, integrity: IntegrityKey, transaction: number): bigint =>
  BigInt(`0x${crypto.mac(integrity.setKey, MASK_TAG, uint, transaction)}`);
