import { existsSync, readFileSync } from "node:fs";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { ed448 } from "@noble/curves/ed448.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { normalizeEd25519, normalizeEd448 } from "./Edwards.ts";

const SMALL = "The point is of small order.";
const MIXED = "The point is outside the subgroup of prime order.";
const notA = (algorithm: string) => `The bytes are no canonical encoding of a point of ${algorithm}.`;

/** The normal form in hexadecimal, or the sentence that refuses. */
const outcome = (normalize: typeof normalizeEd25519, hex: string): string =>
  Either.match(normalize(hexToBytes(hex)), { onLeft: (why) => why, onRight: bytesToHex });

const littleEndian = (value: bigint, bytes: number): string =>
  bytesToHex(Uint8Array.from({ length: bytes }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn)));

const vectors = new URL("../../../shared/vectors/keys/", import.meta.url);
const absent = `${vectors.pathname} is not here`;
const read = (name: string) => JSON.parse(readFileSync(new URL(name, vectors), "utf8"));

interface KeyVerification {
  readonly testGroups: ReadonlyArray<{
    readonly curve: string;
    readonly tests: ReadonlyArray<{ readonly testPassed: boolean; readonly q: string }>;
  }>;
}

describe("Ed25519", () => {
  const p = ed25519.Point.Fp.ORDER;
  const key = bytesToHex(ed25519.getPublicKey(new Uint8Array(32).fill(1)));
  const point = ed25519.Point.fromHex(key);

  it("keeps a good key as it is", () => {
    expect(outcome(normalizeEd25519, key)).toBe(key);
  });

  it("refuses every point of small order, in every encoding", () => {
    for (const hex of ED25519_TORSION_SUBGROUP) expect(outcome(normalizeEd25519, hex)).toBe(SMALL);
  });

  it("refuses a point with a part of small order", () => {
    for (const hex of ED25519_TORSION_SUBGROUP.slice(1)) {
      const mixed = point.add(ed25519.Point.fromHex(hex));
      expect(outcome(normalizeEd25519, mixed.toHex())).toBe(MIXED);
    }
  });

  it("refuses a y that is not below the prime, whether or not y - p is on the curve", () => {
    // p + y fits into 255 bits for y up to 18.
    for (let y = 0n; y <= 18n; y += 1n) {
      expect(outcome(normalizeEd25519, littleEndian(p + y, 32))).toBe(notA("ED25519"));
      expect(outcome(normalizeEd25519, littleEndian(p + y + 2n ** 255n, 32))).toBe(notA("ED25519"));
    }
  });

  it("refuses a sign bit on x = 0", () => {
    expect(outcome(normalizeEd25519, littleEndian(1n + 2n ** 255n, 32))).toBe(notA("ED25519"));
    expect(outcome(normalizeEd25519, littleEndian(p - 1n + 2n ** 255n, 32))).toBe(notA("ED25519"));
  });

  it("refuses a y that no point has", () => {
    expect(outcome(normalizeEd25519, littleEndian(2n, 32))).toBe(notA("ED25519"));
  });

  it("refuses other lengths", () => {
    for (const hex of ["", key.slice(2), `${key}00`, `00${key}`]) {
      expect(outcome(normalizeEd25519, hex)).toMatch(/^A public key of ED25519 takes 32 bytes/);
    }
  });

  it("accepts the keys of RFC 8032", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    const tests: ReadonlyArray<{ readonly publicKey: string }> = read("rfc-8032-eddsa-ed25519.json");
    for (const { publicKey } of tests) expect(outcome(normalizeEd25519, publicKey)).toBe(publicKey);
    expect(tests).toHaveLength(5);
  });

  it("judges as the ACVP key verification does", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    const { testGroups }: KeyVerification = read("EDDSA-KeyVer-1.0.json");
    const tests = testGroups.filter(({ curve }) => curve === "ED-25519").flatMap((group) => group.tests);
    for (const { q, testPassed } of tests) {
      expect(outcome(normalizeEd25519, q)).toBe(testPassed ? q.toLowerCase() : notA("ED25519"));
    }
    expect(tests).toHaveLength(4);
  });

  it("refuses all fourteen keys that only ZIP 215 takes", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    const tests: ReadonlyArray<{ readonly vk_bytes: string }> = read("zip215.json");
    const keys = [...new Set(tests.map(({ vk_bytes }) => vk_bytes))];
    for (const hex of keys) expect([SMALL, notA("ED25519")]).toContain(outcome(normalizeEd25519, hex));
    expect(keys).toHaveLength(14);
  });

  it("refuses the odd keys of the edge cases, each for its reason", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    // The key of the two cases about an S that is too large; it is valid itself.
    const sound = "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623";
    const tests: ReadonlyArray<{ readonly pub_key: string }> = read("ed25519-edge-cases.json");
    const outcomes = new Map(tests.map(({ pub_key }) => [pub_key, outcome(normalizeEd25519, pub_key)]));
    expect(Object.fromEntries(outcomes)).toEqual({
      c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa: SMALL,
      f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43: MIXED,
      cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d: MIXED,
      [sound]: sound,
      ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff: notA("ED25519"),
    });
  });
});

describe("Ed448", () => {
  const p = ed448.Point.Fp.ORDER;
  const key = bytesToHex(ed448.getPublicKey(new Uint8Array(57).fill(1)));
  const point = ed448.Point.fromHex(key);
  const smallOrder = ([x, y]: readonly [bigint, bigint]) => ed448.Point.fromAffine({ x, y });
  const torsion = (
    [
      [0n, p - 1n],
      [1n, 0n],
      [p - 1n, 0n],
    ] as const
  ).map(smallOrder);

  it("keeps a good key as it is", () => {
    expect(outcome(normalizeEd448, key)).toBe(key);
  });

  it("refuses the identity and every other point of small order", () => {
    for (const each of [ed448.Point.ZERO, ...torsion]) expect(outcome(normalizeEd448, each.toHex())).toBe(SMALL);
  });

  it("refuses a point with a part of small order", () => {
    for (const each of torsion) expect(outcome(normalizeEd448, point.add(each).toHex())).toBe(MIXED);
  });

  it("refuses a y that is not below the prime", () => {
    for (const y of [p, p + 1n, p + point.y, 2n ** 448n, 2n ** 454n]) {
      expect(outcome(normalizeEd448, littleEndian(y, 57))).toBe(notA("ED448"));
    }
  });

  it("refuses a sign bit on x = 0, and any other bit of the last byte", () => {
    expect(outcome(normalizeEd448, littleEndian(1n + 2n ** 455n, 57))).toBe(notA("ED448"));
    for (const bit of [1, 2, 4, 8, 16, 32, 64]) {
      const bytes = hexToBytes(key);
      bytes.set([(bytes[56] ?? 0) | bit], 56);
      expect(outcome(normalizeEd448, bytesToHex(bytes))).toBe(notA("ED448"));
    }
  });

  it("refuses other lengths", () => {
    for (const hex of [key.slice(2), `${key}00`, key.slice(0, 64)]) {
      expect(outcome(normalizeEd448, hex)).toMatch(/^A public key of ED448 takes 57 bytes/);
    }
  });

  it("accepts the keys of RFC 8032", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    const tests: ReadonlyArray<{ readonly publicKey: string }> = read("rfc-8032-eddsa-ed448.json");
    for (const { publicKey } of tests) expect(outcome(normalizeEd448, publicKey)).toBe(publicKey);
    expect(tests).toHaveLength(9);
  });

  it("judges as the ACVP key verification does", ({ skip }) => {
    skip(!existsSync(vectors), absent);
    const { testGroups }: KeyVerification = read("EDDSA-KeyVer-1.0.json");
    const tests = testGroups.filter(({ curve }) => curve === "ED-448").flatMap((group) => group.tests);
    for (const { q, testPassed } of tests) {
      expect(outcome(normalizeEd448, q)).toBe(testPassed ? q.toLowerCase() : notA("ED448"));
    }
    expect(tests).toHaveLength(4);
  });
});
