import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import type { Digest } from "../base/Digest.ts";
import { impliedRoot, merkleTree } from "./Merkle.ts";
import { ProvenTree } from "./ProvenTree.ts";

const leaf = (index: number): Digest => bytesToHex(sha256(Uint8Array.of(index & 255, index >> 8))) as Digest;
const leavesOf = (size: number): ReadonlyArray<Digest> => Array.from({ length: size }, (_, index) => leaf(index));

/** How many digests were made. */
const counted = (work: (counting: typeof crypto) => void): number => {
  let count = 0;
  work({
    ...crypto,
    digest: (tag, codec, value) => {
      count += 1;
      return crypto.digest(tag, codec, value);
    },
  });
  return count;
};

/** What is asked of a tree: a leaf at a place with the proof of a third, one node of which may be another. */
const asked = fc.record({ what: fc.nat(20), at: fc.nat(20), proofOf: fc.nat(20), bent: fc.option(fc.nat(4)) });

describe("a tree that is proven leaf by leaf", () => {
  it("holds exactly what leads to its root, whatever was asked before", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(asked, { maxLength: 30 }), (size, questions) => {
        const leaves = leavesOf(size);
        const { root, proofs } = merkleTree(crypto, leaves);
        const tree = new ProvenTree(root, size);
        const ask = (what: Digest, at: number, proof: ReadonlyArray<Digest>): void =>
          expect(tree.holds(crypto, what, at, proof)).toBe(impliedRoot(crypto, what, at, size, proof) === root);
        for (const { what, at, proofOf, bent } of questions) {
          const proof = proofs[proofOf % size] ?? [];
          ask(leaf(what), at, bent !== null && bent < proof.length ? proof.with(bent, leaf(99)) : proof);
          // The truth between two lies.
          ask(leaf(at % size), at % size, proofs[at % size] ?? []);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("hashes no node twice", () => {
    const { root, proofs } = merkleTree(crypto, leavesOf(64));
    const tree = new ProvenTree(root, 64);
    const hashed = counted((counting) => {
      for (const [index, proof] of proofs.entries()) expect(tree.holds(counting, leaf(index), index, proof)).toBe(true);
    });
    expect(hashed).toBe(63);
  });

  it("is taken note of up to a bound, and judged all the same beyond it", () => {
    const { root, proofs } = merkleTree(crypto, leavesOf(64));
    const tree = new ProvenTree(root, 64, 32);
    for (const [index, proof] of proofs.entries()) expect(tree.holds(crypto, leaf(index), index, proof)).toBe(true);
    const ask = (what: number, at: number) =>
      counted((counting) => expect(tree.holds(counting, leaf(what), at, proofs[at] ?? [])).toBe(what === at));
    expect(ask(0, 0)).toBe(0);
    expect(ask(63, 63)).toBe(5);
    expect(ask(62, 63)).toBe(5);
    expect(ask(1, 0)).toBe(0);
  });
});
