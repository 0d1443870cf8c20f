/**
 * Votes: durable, signed, transferable. All statements of one decision form a
 * batch with one signed header; batches of a peer are numbered and chained, so
 * that a peer that ran from an old disk is found out (protocol.md 2, S22).
 */
import { type Codec, digest, list, record, signature, text, type TypeOf, uint } from "../codec/Codec.ts";
import { kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { impliedRoot, merkleTree } from "./Merkle.ts";
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

/**
 * Whether a statement is authentic: made for this topology, part of a batch that
 * the named member signed. Says nothing about incarnations or deadlines. Every
 * peer gets a copy of its own, so no result is remembered per object;
 * {@link Crypto} remembers signatures by their bytes, where that is cheap.
 */
export const isAuthentic = (crypto: Crypto, membership: Membership, signed: SignedStatement): boolean => {
  const { statement, header } = signed;
  const key = membership.keys.get(header.peerId);
  if (key === undefined) return false;
  if (statement.topologyDigest !== membership.digest || statement.epoch !== membership.topology.epoch) return false;
  const root = impliedRoot(crypto, leafHash(crypto, statement), signed.index, header.size, signed.proof);
  return root === header.root && crypto.verify(key, BATCH_TAG, batchHeaderCodec, header, signed.signature);
};

export const signerOf = (signed: SignedStatement): PeerId => signed.header.peerId;
