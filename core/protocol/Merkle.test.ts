import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import type { Digest } from "../base/Digest.ts";
import { impliedRoot, merkleTree } from "./Merkle.ts";

const leaf = (index: number): Digest => bytesToHex(sha256(Uint8Array.of(index & 255, index >> 8))) as Digest;

/** RFC 9162 2.1.1, written out for the pair encoding used here: 0x82 0x5820 left 0x5820 right. */
const joined = (left: Digest, right: Digest): Digest => {
  const head = Uint8Array.of(0x58, 0x20);
  const body = concatBytes(Uint8Array.of(0x82), head, hexToBytes(left), head, hexToBytes(right));
  return bytesToHex(sha256(concatBytes(utf8ToBytes("CUSTODY_STMT_NODE_V1"), Uint8Array.of(0), body))) as Digest;
};

describe("the Merkle tree", () => {
  it("splits at the largest power of two, as RFC 9162 2.1.1 does", () => {
    const [a, b, c, d, e] = [leaf(0), leaf(1), leaf(2), leaf(3), leaf(4)];
    expect(merkleTree(crypto, [a]).root).toBe(a);
    expect(merkleTree(crypto, [a, b, c]).root).toBe(joined(joined(a, b), c));
    expect(merkleTree(crypto, [a, b, c, d, e]).root).toBe(joined(joined(joined(a, b), joined(c, d)), e));
  });

  it("proves every leaf at its own index and at no other", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(39), fc.nat(39), (size, at, elsewhere) => {
        const leaves = Array.from({ length: size }, (_, index) => leaf(index));
        const { root, proofs } = merkleTree(crypto, leaves);
        const index = at % size;
        const proof = proofs[index] ?? [];
        expect(impliedRoot(crypto, leaf(index), index, size, proof)).toBe(root);
        const other = elsewhere % size;
        if (other !== index) expect(impliedRoot(crypto, leaf(index), other, size, proof)).not.toBe(root);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses an index outside, a proof that is short, and one that is long", () => {
    const leaves = [leaf(0), leaf(1), leaf(2)];
    const { proofs } = merkleTree(crypto, leaves);
    const [proof = [], , last = []] = proofs;
    // Past the last leaf there is nothing, though the last leaf's proof would lead from there to the root.
    expect(impliedRoot(crypto, leaf(2), 3, 3, last)).toBeUndefined();
    expect(impliedRoot(crypto, leaf(0), 1, 1, [])).toBeUndefined();
    expect(impliedRoot(crypto, leaf(0), 0, 3, proof.slice(1))).toBeUndefined();
    expect(impliedRoot(crypto, leaf(0), 0, 3, [...proof, leaf(9)])).toBeUndefined();
    expect(impliedRoot(crypto, leaf(0), 0, 1, [leaf(9)])).toBeUndefined();
  });

  it("is never one of nothing", () => {
    expect(() => merkleTree(crypto, [])).toThrow("at least one leaf");
  });
});
