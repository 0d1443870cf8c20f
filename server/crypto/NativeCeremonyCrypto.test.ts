import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { describe, expect, it } from "vitest";
import type { CurveName, HashName, VerificationKey } from "../../core/webauthn/CeremonyCrypto.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { nativeCeremonyCrypto } from "./NativeCeremonyCrypto.ts";

const ports = [nativeCeremonyCrypto, nobleCeremonyCrypto];
const hashes: ReadonlyArray<HashName> = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
const curves: ReadonlyArray<CurveName> = ["P-256", "P-384", "P-521"];
const message = new TextEncoder().encode("what is signed");
const nodeName = (hash: HashName): string => hash.replace("-", "").toLowerCase();

/** The answer of both, which must be the same. */
const verdict = (key: VerificationKey, hash: HashName, text: Uint8Array, signature: Uint8Array): boolean => {
  const [native, portable] = ports.map((crypto) => crypto.verify(key, hash, text, signature));
  expect(portable).toBe(native);
  return native === true;
};

const field = (key: KeyObject, name: string): Uint8Array =>
  Uint8Array.from(Buffer.from(String(key.export({ format: "jwk" })[name]), "base64url"));

const withBit = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = bytes.slice();
  copy.set([(copy[at] ?? 0) ^ 1], at);
  return copy;
};

it("hashes as Node does, with each", () => {
  for (const hash of hashes)
    for (const crypto of ports)
      expect(Buffer.from(crypto.hash(hash, message))).toEqual(createHash(nodeName(hash)).update(message).digest());
});

describe.each(curves)("ECDSA on %s", (curve) => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
  const point = Buffer.concat([Uint8Array.of(4), field(publicKey, "x"), field(publicKey, "y")]);
  const key = { kind: "EC", curve, point } as const;

  it.each(hashes)("with %s is judged alike by both", (hash) => {
    const signature = sign(nodeName(hash), message, { key: privateKey, dsaEncoding: "ieee-p1363" });
    expect(verdict(key, hash, message, signature)).toBe(true);
    for (const at of [0, signature.length / 2, signature.length - 1])
      expect(verdict(key, hash, message, withBit(signature, at))).toBe(false);
    expect(verdict(key, hash, withBit(message, 0), signature)).toBe(false);
    expect(verdict(key, hash, message, signature.subarray(1))).toBe(false);
    expect(verdict(key, hash, message, Buffer.concat([signature, Uint8Array.of(0)]))).toBe(false);
    expect(verdict(key, hash, message, new Uint8Array(signature.length))).toBe(false);
    expect(verdict(key, hash, message, new Uint8Array(signature.length).fill(0xff))).toBe(false);
  });

  it("is never valid under a point off the curve", () => {
    const signature = sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" });
    expect(verdict({ ...key, point: withBit(point, point.length - 1) }, "SHA-256", message, signature)).toBe(false);
    expect(verdict({ ...key, point: new Uint8Array(point.length) }, "SHA-256", message, signature)).toBe(false);
  });
});

it("takes both halves of S", () => {
  const secretKey = p256.utils.randomSecretKey(new Uint8Array(48).fill(5));
  const key = { kind: "EC", curve: "P-256", point: p256.getPublicKey(secretKey, false) } as const;
  const low = p256.Signature.fromBytes(p256.sign(message, secretKey));
  const high = new p256.Signature(low.r, p256.Point.Fn.ORDER - low.s).toBytes("compact");
  expect(verdict(key, "SHA-256", message, low.toBytes("compact"))).toBe(true);
  expect(verdict(key, "SHA-256", message, high)).toBe(true);
});

describe("RSA", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { kind: "RSA", modulus: field(publicKey, "n"), exponent: field(publicKey, "e") } as const;

  it.each(hashes)("with %s is judged alike by all", (hash) => {
    const signature = sign(nodeName(hash), message, privateKey);
    expect(verdict(key, hash, message, signature)).toBe(true);
    expect(verdict(key, hash, message, withBit(signature, 100))).toBe(false);
    expect(verdict(key, hash, withBit(message, 0), signature)).toBe(false);
    expect(verdict(key, hash, message, signature.subarray(1))).toBe(false);
    expect(verdict(key, hash, message, Buffer.concat([Uint8Array.of(0), signature]))).toBe(false);
    expect(verdict(key, hash, message, new Uint8Array(256))).toBe(false);
    expect(verdict(key, hash, message, new Uint8Array(256).fill(0xff))).toBe(false);
    expect(verdict(key, hash, message, new Uint8Array(0))).toBe(false);
  });

  it("is never valid under another padding or another modulus", () => {
    const pss = sign("sha256", message, { key: privateKey, padding: 6 });
    expect(verdict(key, "SHA-256", message, pss)).toBe(false);
    const signature = sign("sha256", message, privateKey);
    expect(verdict({ ...key, modulus: withBit(key.modulus, 10) }, "SHA-256", message, signature)).toBe(false);
  });
});
