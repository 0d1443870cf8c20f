import { existsSync, readFileSync } from "node:fs";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import sodium from "libsodium-wrappers-sumo";
import { describe, expect, it } from "vitest";
import { installedProviders } from "../../core/credential/SignatureProvider.ts";
import { nativeProviders } from "./NativeProviders.ts";

const { Point } = ed25519;
const { ORDER } = Point.Fp;
const torsion = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex));

/** The normal form in hexadecimal, or the sentence that refuses. */
const outcome = (providers: typeof installedProviders, encoded: Uint8Array): string => {
  const normalized = providers.get("ED25519")?.normalize(encoded);
  if (normalized === undefined) throw new Error("ED25519 is not installed");
  return Either.match(normalized, { onLeft: (why) => why, onRight: bytesToHex });
};

const isAccepted = (encoded: Uint8Array): boolean =>
  Either.isRight(installedProviders.get("ED25519")?.normalize(encoded) ?? Either.left(""));

/** Both say the same, and libsodium by itself says no more and no less than the core: nothing hides behind the second look. */
const expectAgreement = (encoded: Uint8Array): void => {
  expect(outcome(nativeProviders, encoded)).toBe(outcome(installedProviders, encoded));
  if (encoded.length === 32) expect(sodium.crypto_core_ed25519_is_valid_point(encoded)).toBe(isAccepted(encoded));
};

const littleEndian = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));

describe("the native check of Ed25519 keys", () => {
  it("accepts the subgroup of prime order and none of its seven other cosets", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: Point.Fn.ORDER - 1n }), (k) => {
        const point = Point.BASE.multiply(k);
        for (const each of torsion) {
          const encoded = point.add(each).toBytes();
          expect(sodium.crypto_core_ed25519_is_valid_point(encoded)).toBe(each.is0());
          expectAgreement(encoded);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("refuses every point of small order", () => {
    for (const each of torsion) {
      expect(isAccepted(each.toBytes())).toBe(false);
      expectAgreement(each.toBytes());
    }
  });

  it("agrees with the core about any 32 bytes", () => {
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (encoded) => {
        outcomes.add(isAccepted(encoded));
        expectAgreement(encoded);
      }),
      { numRuns: 500 },
    );
    expect(outcomes.size).toBe(2);
  });

  it("agrees with the core near the ends of the field, on either sign, where encodings are not canonical", () => {
    for (let distance = 0n; distance < 40n; distance++)
      for (const y of [distance, ORDER - 20n + distance, (1n << 255n) - 1n - distance])
        for (const sign of [0n, 1n << 255n]) expectAgreement(littleEndian((y + sign) & ((1n << 256n) - 1n)));
  });

  it("agrees with the core on the wrapped form and on other lengths", () => {
    const key = ed25519.getPublicKey(new Uint8Array(32).fill(3));
    const wrapped = hexToBytes(`302a300506032b6570032100${bytesToHex(key)}`);
    expect(outcome(nativeProviders, wrapped)).toBe(bytesToHex(key));
    for (const encoded of [wrapped, wrapped.slice(1), key.slice(1), new Uint8Array(0), Uint8Array.of(...key, 0)])
      expectAgreement(encoded);
  });

  it("keeps a copy, and leaves every other algorithm to the core", () => {
    const key = ed25519.getPublicKey(new Uint8Array(32).fill(4));
    const before = bytesToHex(key);
    const normalized = Either.getOrThrow(nativeProviders.get("ED25519")?.normalize(key) ?? Either.left("absent"));
    key.fill(0);
    expect(bytesToHex(normalized)).toBe(before);
    expect([...nativeProviders.keys()]).toEqual([...installedProviders.keys()]);
    for (const [algorithm, provider] of nativeProviders)
      if (algorithm !== "ED25519") expect(provider).toBe(installedProviders.get(algorithm));
  });
});

const vectors = new URL("../../../shared/vectors/keys/", import.meta.url);

describe.skipIf(!existsSync(vectors))("the native check on outside vectors (skipped when they are not there)", () => {
  it("agrees with the core on the edge cases and the ZIP 215 keys", () => {
    const read = (name: string): ReadonlyArray<{ readonly pub_key?: string; readonly vk_bytes?: string }> =>
      JSON.parse(readFileSync(new URL(name, vectors), "utf8"));
    const keys = [...read("ed25519-edge-cases.json"), ...read("zip215.json")].map((each) =>
      hexToBytes(each.pub_key ?? each.vk_bytes ?? ""),
    );
    expect(keys).toHaveLength(12 + 196);
    for (const key of keys) expectAgreement(key);
  });
});
