import { existsSync, readFileSync } from "node:fs";
import { ed25519 } from "@noble/curves/ed25519.js";
import { ed448 } from "@noble/curves/ed448.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { installedProviders } from "./SignatureProvider.ts";
import { algorithmOfSubjectPublicKeyInfo, keyEncodings } from "./SubjectPublicKeyInfo.ts";

const normalize = (algorithm: string, encoded: Uint8Array) => {
  const provider = installedProviders.get(algorithm);
  return provider === undefined ? Either.left("not installed") : provider.normalize(encoded);
};

/** Valid bare keys of an algorithm, in all its forms; any bytes do for the post-quantum ones. */
const bareForms = (algorithm: string, seed: Uint8Array): ReadonlyArray<Uint8Array> => {
  const secret = (length: number) =>
    Uint8Array.from({ length }, (_, index) => (index === 0 ? 0 : (seed[index % 32] ?? 0)));
  switch (algorithm) {
    case "ED25519":
      return [ed25519.getPublicKey(secret(32))];
    case "ED448":
      return [ed448.getPublicKey(secret(57))];
    case "P256":
      return [p256.getPublicKey(secret(32)), p256.getPublicKey(secret(32), false)];
    case "P384":
      return [p384.getPublicKey(secret(48)), p384.getPublicKey(secret(48), false)];
    case "P521":
      return [p521.getPublicKey(secret(66)), p521.getPublicKey(secret(66), false)];
    case "SECP256K1":
      return [secp256k1.getPublicKey(secret(32)), secp256k1.getPublicKey(secret(32), false)];
    default: {
      const encoding = Object.values(keyEncodings).find((each) => each.algorithm === algorithm);
      return [secret(encoding?.keyBytes[0] ?? 0)];
    }
  }
};

/** A bare key as a SubjectPublicKeyInfo, by an encoder of its own. */
const wrapped = (algorithm: string, key: Uint8Array): Uint8Array => {
  const encoding = Object.values(keyEncodings).find((each) => each.algorithm === algorithm);
  const identifier = encoding?.identifier ?? new Uint8Array();
  const header = (tag: number, length: number) =>
    Uint8Array.of(
      tag,
      ...(length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]),
    );
  const content = concatBytes(
    header(0x30, identifier.length),
    identifier,
    header(0x03, key.length + 1),
    Uint8Array.of(0),
    key,
  );
  return concatBytes(header(0x30, content.length), content);
};

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((seed) => seed.some((byte) => byte !== 0));

it("installs exactly the algorithms of contract 2.2", () => {
  const slhdsa = ["SHA2", "SHAKE"].flatMap((hash) =>
    ["128", "192", "256"].flatMap((level) => ["S", "F"].map((size) => `SLHDSA_${hash}_${level}${size}`)),
  );
  expect([...installedProviders.keys()]).toEqual([
    "ED25519",
    "ED448",
    "SECP256K1",
    "P256",
    "P384",
    "P521",
    "MLDSA44",
    "MLDSA65",
    "MLDSA87",
    ...slhdsa,
  ]);
  for (const [name, { algorithm }] of installedProviders) expect(algorithm).toBe(name);
});

it("matches names by case", () => {
  for (const name of ["ed25519", "Ed25519", "ED25519 ", "p256", "P-256", "MLDSA-44", "SLHDSA_SHA2_128s"]) {
    expect(installedProviders.has(name)).toBe(false);
  }
});

describe.each([...installedProviders.keys()])("%s", (algorithm) => {
  it("gives one normal form for every encoding of a key, which is its own normal form", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const forms = bareForms(algorithm, seed).flatMap((key) => [key, wrapped(algorithm, key)]);
        const [normal = new Uint8Array()] = bareForms(algorithm, seed);
        for (const form of forms) expect(Either.getOrThrow(normalize(algorithm, form))).toEqual(normal);
        expect(Either.getOrThrow(normalize(algorithm, normal))).toEqual(normal);
        expect(algorithmOfSubjectPublicKeyInfo(wrapped(algorithm, normal))).toBe(algorithm);
      }),
      { numRuns: 5 },
    );
  });

  it("refuses one byte more and one byte less, at either end", () => {
    for (const key of bareForms(algorithm, new Uint8Array(32).fill(9))) {
      for (const form of [key, wrapped(algorithm, key)]) {
        for (const extra of [0, 1, 0xff]) {
          expect(Either.isLeft(normalize(algorithm, concatBytes(form, Uint8Array.of(extra))))).toBe(true);
          expect(Either.isLeft(normalize(algorithm, concatBytes(Uint8Array.of(extra), form)))).toBe(true);
        }
        expect(Either.isLeft(normalize(algorithm, form.subarray(1)))).toBe(true);
        expect(Either.isLeft(normalize(algorithm, form.subarray(0, -1)))).toBe(true);
      }
    }
  });

  it("gives a fresh array, which later changes of the input do not reach", () => {
    const [key = new Uint8Array()] = bareForms(algorithm, new Uint8Array(32).fill(9));
    const input = key.slice();
    const normal = Either.getOrThrow(normalize(algorithm, input));
    input.fill(0);
    expect(normal).toEqual(key);
    expect(normal.buffer).not.toBe(input.buffer);
  });

  it("answers in one sentence to any bytes, and never throws", () => {
    const lengths = Object.values(keyEncodings).find((each) => each.algorithm === algorithm)?.keyBytes ?? [];
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      ...lengths.map((length) => fc.uint8Array({ minLength: length, maxLength: length })),
    );
    fc.assert(
      fc.property(bytes, (encoded) => {
        const result = normalize(algorithm, encoded);
        if (Either.isLeft(result)) expect(result.left).toMatch(/^[A-Z][^\n]*\.$/);
        else expect(Either.getOrThrow(normalize(algorithm, result.right))).toEqual(result.right);
      }),
      { numRuns: 60 },
    );
  });
});

it("accepts the keys of the ACVP key generation of SLH-DSA as they are", ({ skip }) => {
  const vectors = new URL("../../../shared/vectors/keys/SLH-DSA-keyGen-FIPS205.json", import.meta.url);
  skip(!existsSync(vectors), `${vectors.pathname} is not here`);
  const { testGroups }: { readonly testGroups: ReadonlyArray<Group> } = JSON.parse(readFileSync(vectors, "utf8"));
  for (const { parameterSet, tests } of testGroups) {
    const algorithm = parameterSet.toUpperCase().replace("SLH-DSA", "SLHDSA").replaceAll("-", "_");
    for (const { pk } of tests) expect(Either.getOrThrow(normalize(algorithm, hexToBytes(pk)))).toEqual(hexToBytes(pk));
    expect(tests).toHaveLength(10);
  }
  expect(testGroups).toHaveLength(12);
});

interface Group {
  readonly parameterSet: string;
  readonly tests: ReadonlyArray<{ readonly pk: string }>;
}
