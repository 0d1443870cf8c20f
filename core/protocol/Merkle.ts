/**
 * The Merkle tree of RFC 9162 2.1 over digests: one signature covers many
 * statements (or many stored rows), and each travels with its own short proof.
 */
import { digest, pair } from "../codec/Codec.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";

const NODE_TAG = "CUSTODY_STMT_NODE_V1";
const node = pair(digest, digest);

/** The node above two others. */
export const joined = (crypto: Crypto, left: Digest, right: Digest): Digest =>
  crypto.digest(NODE_TAG, node, [left, right]);

/** The largest power of two smaller than `size`, for `size` of at least 2. */
export const splitPoint = (size: number): number => {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
};

export interface MerkleTree {
  readonly root: Digest;
  /** For each leaf the siblings from the leaf up to the root. */
  readonly proofs: ReadonlyArray<ReadonlyArray<Digest>>;
}

const NO_SIBLINGS: ReadonlyArray<ReadonlyArray<Digest>> = [[]];

/** Builds the tree over at least one leaf. */
export const merkleTree = (crypto: Crypto, leaves: ReadonlyArray<Digest>): MerkleTree => {
  const [first] = leaves;
  // The most common batch by far has one statement.
  if (first !== undefined && leaves.length === 1) return { root: first, proofs: NO_SIBLINGS };
  const proofs: ReadonlyArray<Array<Digest>> = leaves.map(() => []);
  const build = (from: number, to: number): Digest => {
    const only = leaves[from];
    if (only === undefined) throw new RangeError("a Merkle tree needs at least one leaf");
    if (to - from === 1) return only;
    const middle = from + splitPoint(to - from);
    const left = build(from, middle);
    const right = build(middle, to);
    for (let index = from; index < to; index++) proofs[index]?.push(index < middle ? right : left);
    return joined(crypto, left, right);
  };
  return { root: build(0, leaves.length), proofs };
};

/**
 * The root that a leaf at `index` of `size` leaves implies with its proof, or
 * undefined when index, size and proof length do not fit together.
 */
export const impliedRoot = (
  crypto: Crypto,
  leaf: Digest,
  index: number,
  size: number,
  proof: ReadonlyArray<Digest>,
): Digest | undefined => {
  if (index >= size) return undefined;
  if (size === 1) return proof.length === 0 ? leaf : undefined;
  let used = 0;
  const climb = (at: number, count: number): Digest | undefined => {
    if (count === 1) return leaf;
    const half = splitPoint(count);
    const below = at < half ? climb(at, half) : climb(at - half, count - half);
    const sibling = proof[used++];
    if (below === undefined || sibling === undefined) return undefined;
    return at < half ? joined(crypto, below, sibling) : joined(crypto, sibling, below);
  };
  const root = climb(index, size);
  return used === proof.length ? root : undefined;
};
