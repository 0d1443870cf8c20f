/**
 * Votes: durable, signed, transferable. All statements of one decision form a
 * batch with one signed header; batches of a peer are numbered and chained, so
 * that a peer that ran from an old disk is found out (protocol.md 2, S22).
 */
import { type Codec, digest, list, record, signature, text, type TypeOf, uint } from "../codec/Codec.ts";
import { kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest, PublicKey } from "../base/Digest.ts";
import { impliedRoot, merkleTree } from "./Merkle.ts";
import { MOST_LEAVES, ProvenTree } from "./ProvenTree.ts";
import type { Membership, PeerId } from "./Topology.ts";

const LEAF_TAG = "CUSTODY_STMT_LEAF_V1";
export const BATCH_TAG = "CUSTODY_STMT_BATCH_V1";

/** The statements of agreement. */
type ProtocolKind = "RECEIPT" | "REFUSAL" | "PLEDGE" | "COMMIT_ACK" | "ABORT_ACK";
/** The statements of modules, named by module and name, such as `Session.ACK`. */
export type StatementKind = ProtocolKind | `${string}.${string}`;

// A reader counts only statements of the kinds that it looks for.
const kindCodec = text(32) as Codec<string> as Codec<StatementKind>;

export const statementCodec = kept(
  record({
    kind: kindCodec,
    proposalId: digest,
    epoch: uint,
    seq: uint,
    topologyDigest: digest,
    /** REFUSAL: the code of the check that failed; PLEDGE: the refuser; empty otherwise. */
    detail: text(64),
  }),
);
export type Statement = TypeOf<typeof statementCodec>;

export const batchHeaderCodec = kept(
  record({
    peerId: uint,
    incarnation: uint,
    batchNo: uint,
    prevBatchHash: digest,
    size: uint,
    root: digest,
    signedAt: uint,
  }),
);
export type BatchHeader = TypeOf<typeof batchHeaderCodec>;

/** A batch as it is kept when its statements are not needed. */
export const signedHeaderCodec = record({ header: batchHeaderCodec, signature });
export type SignedHeader = TypeOf<typeof signedHeaderCodec>;

/** A statement that convinces anybody who knows the topology. */
export const signedStatementCodec = record({
  statement: statementCodec,
  index: uint,
  /** Sixteen levels cover any batch a peer can make. */
  proof: list(digest, 16),
  header: batchHeaderCodec,
  signature,
});
export type SignedStatement = TypeOf<typeof signedStatementCodec>;

/** The hash that the next batch of the same peer refers to. */
export const batchHash = (crypto: Crypto, header: BatchHeader): Digest =>
  crypto.digest(BATCH_TAG, batchHeaderCodec, header);

const leafHash = (crypto: Crypto, statement: Statement): Digest => crypto.digest(LEAF_TAG, statementCodec, statement);

/** Root and proofs of a batch's statements, in order. */
export const batchTree = (crypto: Crypto, statements: ReadonlyArray<Statement>) =>
  merkleTree(
    crypto,
    statements.map((each) => leafHash(crypto, each)),
  );

/** A batch under whose header a signature was verified, and what is proven of its statements by now. */
interface VerifiedBatch extends SignedHeader {
  readonly key: PublicKey;
  readonly tree: ProvenTree;
}

/** How many batches are remembered: those of a few rounds, by every member of a small cluster. */
const REMEMBERED = 64;

/** By crypto port, that is for each process; by root. What is asked of them has the same answer without. */
const batches = new WeakMap<Crypto, Map<Digest, VerifiedBatch>>();

const isSameHeader = (left: BatchHeader, right: BatchHeader): boolean =>
  left === right ||
  (left.root === right.root &&
    left.size === right.size &&
    left.batchNo === right.batchNo &&
    left.peerId === right.peerId &&
    left.incarnation === right.incarnation &&
    left.prevBatchHash === right.prevBatchHash &&
    left.signedAt === right.signedAt &&
    left.version === right.version);

/** Whether a statement belongs to a batch of several under this key. */
const isOfBatch = (crypto: Crypto, key: PublicKey, leaf: Digest, signed: SignedStatement): boolean => {
  const { header, signature, index, proof } = signed;
  const known = batches.get(crypto) ?? new Map<Digest, VerifiedBatch>();
  const batch = known.get(header.root);
  if (batch?.key === key && batch.signature === signature && isSameHeader(batch.header, header))
    return batch.tree.holds(crypto, leaf, index, proof);
  const tree = new ProvenTree(header.root, header.size);
  if (!tree.holds(crypto, leaf, index, proof)) return false;
  if (!crypto.verify(key, BATCH_TAG, batchHeaderCodec, header, signature)) return false;
  known.delete(header.root);
  known.set(header.root, { header, signature, key, tree });
  for (const oldest of known.keys()) {
    if (known.size <= REMEMBERED) break;
    known.delete(oldest);
  }
  batches.set(crypto, known);
  return true;
};

/**
 * Whether a statement is authentic: made for this topology, part of a batch that
 * the named member signed. Says nothing about incarnations or deadlines. Every
 * peer gets a copy of its own, so no result is remembered per object; what
 * statements of one batch share is verified once.
 */
export const isAuthentic = (crypto: Crypto, membership: Membership, signed: SignedStatement): boolean => {
  const { statement, header } = signed;
  const key = membership.keys.get(header.peerId);
  if (key === undefined) return false;
  if (statement.topologyDigest !== membership.digest || statement.epoch !== membership.topology.epoch) return false;
  const leaf = leafHash(crypto, statement);
  if (header.size > 1 && header.size <= MOST_LEAVES) return isOfBatch(crypto, key, leaf, signed);
  const root = impliedRoot(crypto, leaf, signed.index, header.size, signed.proof);
  return root === header.root && crypto.verify(key, BATCH_TAG, batchHeaderCodec, header, signed.signature);
};

export const signerOf = (signed: SignedStatement): PeerId => signed.header.peerId;
