/**
 * A Merkle tree of which some leaves were proven: the statements of a round are proven one after the other, and their
 * proofs repeat each other's nodes. What one proof has shown is looked up by the next and not hashed again.
 */
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { joined, splitPoint } from "./Merkle.ts";

/** A tree with more leaves is proven leaf by leaf ({@link impliedRoot}): no step of an honest peer makes one. */
export const MOST_LEAVES = 1 << 16;

/** Those of a thousand leaves: a liar's tree has many more, and is hashed for every leaf from there on. */
const KEPT_NODES = 2048;

/** One level on the way from the root to a leaf: a subtree, and the half of it that the leaf is not in. */
interface Level {
  readonly place: number;
  readonly other: number;
  readonly isLeft: boolean;
}

/** The name of the subtree over `count` leaves from `from` on. */
const placeOf = (from: number, count: number): number => from * 2 * MOST_LEAVES + count;

export class ProvenTree {
  readonly size: number;
  /** By {@link placeOf}: with a node, its way to the root and all beside that are known. */
  readonly #nodes = new Map<number, Digest>();

  readonly #kept: number;

  /**
   * @param size how many leaves it has, from 1 to {@link MOST_LEAVES}
   * @param kept no more proofs are taken note of than fill so many nodes
   */
  constructor(root: Digest, size: number, kept = KEPT_NODES) {
    this.size = size;
    this.#kept = kept;
    this.#nodes.set(placeOf(0, size), root);
  }

  /** Whether a leaf at `index` belongs to the tree, and its proof is the one there is. */
  holds(crypto: Crypto, leaf: Digest, index: number, proof: ReadonlyArray<Digest>): boolean {
    if (index >= this.size) return false;
    const levels: Array<Level> = [];
    let [from, count] = [0, this.size];
    while (count > 1) {
      const place = placeOf(from, count);
      const half = splitPoint(count);
      const isLeft = index - from < half;
      levels.push({ place, other: isLeft ? placeOf(from + half, count - half) : placeOf(from, half), isLeft });
      if (!isLeft) from += half;
      count = isLeft ? half : count - half;
    }
    if (proof.length !== levels.length) return false;
    return this.#climb(crypto, leaf, placeOf(from, 1), levels.toReversed(), proof);
  }

  #climb(
    crypto: Crypto,
    leaf: Digest,
    place: number,
    levels: ReadonlyArray<Level>,
    proof: ReadonlyArray<Digest>,
  ): boolean {
    const shown: Array<readonly [number, Digest]> = [];
    let [node, at] = [leaf, place];
    for (const [height, level] of levels.entries()) {
      const other = proof[height];
      if (other === undefined) return false;
      const known = this.#nodes.get(at);
      if (known === undefined) {
        shown.push([at, node], [level.other, other]);
        node = level.isLeft ? joined(crypto, node, other) : joined(crypto, other, node);
      } else if (known !== node || this.#nodes.get(level.other) !== other) return false;
      // Above a known node all is known, so only the rest of the proof is left to compare.
      else node = this.#nodes.get(level.place) ?? node;
      at = level.place;
    }
    if (this.#nodes.get(at) !== node) return false;
    if (this.#nodes.size < this.#kept) for (const [each, digest] of shown) this.#nodes.set(each, digest);
    return true;
  }
}
