import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { normalizeP256, normalizeP384, normalizeP521, normalizeSecp256k1 } from "./Weierstrass.ts";

const curves = [
  { algorithm: "P256", curve: p256, normalize: normalizeP256, openssl: "P-256", bytes: 32 },
  { algorithm: "P384", curve: p384, normalize: normalizeP384, openssl: "P-384", bytes: 48 },
  { algorithm: "P521", curve: p521, normalize: normalizeP521, openssl: "P-521", bytes: 66 },
  { algorithm: "SECP256K1", curve: secp256k1, normalize: normalizeSecp256k1, openssl: "secp256k1", bytes: 32 },
] as const;

type Normalize = typeof normalizeP256;
const outcome = (normalize: Normalize, encoded: Uint8Array): string =>
  Either.match(normalize(encoded), { onLeft: (why) => why, onRight: bytesToHex });

const bigEndian = (value: bigint, bytes: number): Uint8Array => hexToBytes(value.toString(16).padStart(2 * bytes, "0"));

const BAD_FORM = "The first byte of a point must be 02 or 03 (compressed) or 04 (uncompressed).";

describe.each(curves)("$algorithm", ({ algorithm, curve, normalize, openssl, bytes }) => {
  const { p, b } = curve.Point.CURVE();
  const notAPoint = `The bytes are no point of the curve of ${algorithm}.`;
  const point = curve.Point.BASE.multiply(0x1234567n);
  const compressed = point.toBytes(true);
  const uncompressed = point.toBytes(false);
  const { x, y } = point.toAffine();
  const withForm = (form: number, key: Uint8Array) => concatBytes(Uint8Array.of(form), key.subarray(1));

  it("brings both forms of a point and of its negative into the compressed form", () => {
    for (const each of [point, point.negate()]) {
      expect(outcome(normalize, each.toBytes(true))).toBe(each.toHex(true));
      expect(outcome(normalize, each.toBytes(false))).toBe(each.toHex(true));
    }
  });

  it("agrees with OpenSSL on generated keys, bare and as SubjectPublicKeyInfo", () => {
    for (let round = 0; round < 5; round += 1) {
      const { publicKey } = generateKeyPairSync("ec", { namedCurve: openssl });
      const spki = publicKey.export({ type: "spki", format: "der" });
      const bare = spki.subarray(spki.length - 1 - 2 * bytes);
      const expected = concatBytes(Uint8Array.of(2 + ((bare.at(-1) ?? 0) & 1)), bare.subarray(1, 1 + bytes));
      expect(outcome(normalize, spki)).toBe(bytesToHex(expected));
      expect(outcome(normalize, bare)).toBe(bytesToHex(expected));
    }
  });

  it("refuses explicit curve parameters", () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: openssl, paramEncoding: "explicit" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    expect(outcome(normalize, spki)).toMatch(/^A public key of /);
  });

  it("refuses hybrid points, and every other first byte", () => {
    for (let form = 0; form < 256; form += 1) {
      if (form !== 2 && form !== 3) expect(outcome(normalize, withForm(form, compressed))).toBe(BAD_FORM);
      if (form !== 4) expect(outcome(normalize, withForm(form, uncompressed))).toBe(BAD_FORM);
    }
  });

  it("refuses the identity and bare coordinates", () => {
    for (const encoded of [Uint8Array.of(0), new Uint8Array(), uncompressed.subarray(1), compressed.subarray(1)]) {
      expect(outcome(normalize, encoded)).toMatch(/^A public key of /);
    }
    expect(outcome(normalize, new Uint8Array(1 + bytes))).toBe(BAD_FORM);
    expect(outcome(normalize, concatBytes(Uint8Array.of(4), new Uint8Array(2 * bytes)))).toBe(notAPoint);
  });

  it("refuses a point off the curve", () => {
    const moved = concatBytes(Uint8Array.of(4), bigEndian(x, bytes), bigEndian(y + 1n, bytes));
    expect(outcome(normalize, moved)).toBe(notAPoint);
  });

  it("refuses an x that no point has", () => {
    const field = curve.Point.Fp;
    const ofX = (value: bigint) =>
      field.add(field.add(field.pow(value, 3n), field.mul(curve.Point.CURVE().a, value)), b);
    const isSquare = (value: bigint) => field.eql(field.pow(value, (p - 1n) / 2n), field.ONE);
    const without = Array.from({ length: 20 }, (_, index) => BigInt(index)).filter((value) => !isSquare(ofX(value)));
    expect(without.length).toBeGreaterThan(0);
    for (const value of without) {
      expect(outcome(normalize, concatBytes(Uint8Array.of(2), bigEndian(value, bytes)))).toBe(notAPoint);
    }
  });

  it("refuses coordinates that are not below the prime, even where the remainder is on the curve", () => {
    const small = Array.from({ length: 40 }, (_, index) =>
      concatBytes(Uint8Array.of(2), bigEndian(BigInt(index), bytes)),
    ).filter((encoded) => Either.isRight(normalize(encoded)));
    expect(small.length).toBeGreaterThan(0);
    for (const encoded of small) {
      const affine = curve.Point.fromBytes(encoded).toAffine();
      const tooLarge = bigEndian(affine.x + p, bytes);
      expect(outcome(normalize, concatBytes(Uint8Array.of(2), tooLarge))).toBe(notAPoint);
      expect(outcome(normalize, concatBytes(Uint8Array.of(4), tooLarge, bigEndian(affine.y, bytes)))).toBe(notAPoint);
    }
    expect(outcome(normalize, concatBytes(Uint8Array.of(2), bigEndian(p, bytes)))).toBe(notAPoint);
    // The equation holds for y + p as well. On P-521 it always fits into the bytes.
    const fits = (y + p).toString(16).length <= 2 * bytes;
    if (fits) {
      const above = concatBytes(Uint8Array.of(4), bigEndian(x, bytes), bigEndian(y + p, bytes));
      expect(outcome(normalize, above)).toBe(notAPoint);
    }
    expect(fits || algorithm !== "P521").toBe(true);
    expect(outcome(normalize, concatBytes(Uint8Array.of(2), new Uint8Array(bytes).fill(0xff)))).toBe(notAPoint);
  });

  it("refuses a point of another curve of the same size", () => {
    const other = curve === p256 ? secp256k1 : p256;
    expect(Either.isLeft(normalize(other.Point.BASE.toBytes(false)))).toBe(true);
  });
});

const vectors = new URL("../../../shared/vectors/keys/ECDSA-KeyVer-FIPS186-5.json", import.meta.url);

describe("the ACVP key verification", () => {
  it.for(curves.slice(0, 3))("$openssl", ({ openssl, normalize, bytes }, { skip }) => {
    skip(!existsSync(vectors), `${vectors.pathname} is not here`);
    const { testGroups }: { readonly testGroups: ReadonlyArray<Group> } = JSON.parse(readFileSync(vectors, "utf8"));
    const tests = testGroups.filter(({ curve }) => curve === openssl).flatMap((group) => group.tests);
    for (const { qx, qy, testPassed, reason } of tests) {
      // A coordinate that is out of range may also be too long to be written as a point at all.
      const encoded = hexToBytes(`04${qx}${qy}`);
      expect(Either.isRight(normalize(encoded)), reason).toBe(testPassed);
      if (testPassed) expect(encoded.length).toBe(1 + 2 * bytes);
    }
    expect(tests).toHaveLength(3);
  });
});

interface Group {
  readonly curve: string;
  readonly tests: ReadonlyArray<{
    readonly qx: string;
    readonly qy: string;
    readonly testPassed: boolean;
    readonly reason: string;
  }>;
}
