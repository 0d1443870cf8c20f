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
    const leaves = leavesOf(64);
    const { root, proofs } = merkleTree(crypto, leaves);
    let count = 0;
    const counting: typeof crypto = {
      ...crypto,
      digest: (tag, codec, value) => {
        count += 1;
        return crypto.digest(tag, codec, value);
      },
    };
    const tree = new ProvenTree(root, 64);
    for (const [index, proof] of proofs.entries()) expect(tree.holds(counting, leaf(index), index, proof)).toBe(true);
    expect(count).toBe(63);
  });
});
