import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { ml_dsa44 } from "@noble/post-quantum/ml-dsa.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { algorithmOfSubjectPublicKeyInfo, bareKey, type KeyEncoding, keyEncodings } from "./SubjectPublicKeyInfo.ts";

const encodings: ReadonlyArray<KeyEncoding> = Object.values(keyEncodings);
const sentence = (encoding: KeyEncoding, encoded: Uint8Array): string =>
  Either.match(bareKey(encoding, encoded), { onLeft: (why) => why, onRight: () => "accepted" });

/** DER written independently of the code under test: from the inside out, by a general encoder. */
const tlv = (tag: number, ...content: ReadonlyArray<Uint8Array>): Uint8Array => {
  const body = concatBytes(...content);
  const { length } = body;
  const octets =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, Math.floor(length / 256), length % 256];
  return concatBytes(Uint8Array.of(tag, ...octets), body);
};
const wrap = (encoding: KeyEncoding, key: Uint8Array): Uint8Array =>
  tlv(0x30, tlv(0x30, encoding.identifier), tlv(0x03, Uint8Array.of(0), key));

const cases = encodings.flatMap((encoding) =>
  encoding.keyBytes.map((length) => {
    const key = Uint8Array.from({ length }, (_, index) => (index * 7 + 1) % 256);
    return { name: `${encoding.algorithm}, ${length} bytes`, encoding, key, spki: wrap(encoding, key) };
  }),
);

describe.each(cases)("$name", ({ encoding, key, spki }) => {
  it("is unwrapped, and names its algorithm", () => {
    expect(Either.getOrThrow(bareKey(encoding, spki))).toEqual(key);
    expect(Either.getOrThrow(bareKey(encoding, key))).toEqual(key);
    expect(algorithmOfSubjectPublicKeyInfo(spki)).toBe(encoding.algorithm);
    expect(algorithmOfSubjectPublicKeyInfo(key)).toBeUndefined();
  });

  it("is refused with a byte too many or too few anywhere", () => {
    const damaged = [
      concatBytes(spki, Uint8Array.of(0)),
      concatBytes(Uint8Array.of(0), spki),
      spki.subarray(0, -1),
      spki.subarray(1),
      tlv(0x30, tlv(0x30, encoding.identifier), tlv(0x03, Uint8Array.of(0), key, Uint8Array.of(0))),
      tlv(0x30, tlv(0x30, encoding.identifier), tlv(0x03, Uint8Array.of(0), key), tlv(0x05)),
    ];
    for (const each of damaged) {
      expect(algorithmOfSubjectPublicKeyInfo(each)).toBeUndefined();
      expect(sentence(encoding, each)).toMatch(/^A public key of /);
    }
  });

  it("is refused with any byte before the key changed", () => {
    for (let index = 0; index < spki.length - key.length; index += 1) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = spki.slice();
        damaged.set([(damaged[index] ?? 0) ^ flip], index);
        // Changing the last arc of the OID may lead to another installed algorithm, never to this one.
        expect(algorithmOfSubjectPublicKeyInfo(damaged)).not.toBe(encoding.algorithm);
        expect(sentence(encoding, damaged)).not.toBe("accepted");
      }
    }
  });

  it("is refused with parameters that do not belong there, unused bits, or lengths that are not minimal", () => {
    const bits = tlv(0x03, Uint8Array.of(0), key);
    const inner = concatBytes(tlv(0x30, encoding.identifier), bits);
    const damaged = [
      tlv(0x30, tlv(0x30, encoding.identifier, tlv(0x05)), bits),
      tlv(0x30, tlv(0x30, encoding.identifier), tlv(0x03, Uint8Array.of(1), key)),
      tlv(0x30, tlv(0x30, encoding.identifier), tlv(0x04, key)),
      concatBytes(Uint8Array.of(0x30, 0x83, 0, inner.length >> 8, inner.length & 0xff), inner),
      concatBytes(Uint8Array.of(0x30, 0x80), inner, Uint8Array.of(0, 0)),
    ];
    for (const each of damaged) expect(sentence(encoding, each)).toMatch(/^A public key of /);
  });
});

it("has, within one algorithm, no two forms of one length", () => {
  for (const encoding of encodings) {
    const lengths = cases
      .filter((each) => each.encoding === encoding)
      .flatMap(({ key, spki }) => [key.length, spki.length]);
    expect(new Set(lengths).size).toBe(lengths.length);
  }
});

it("says which algorithm a structure names when it is another", () => {
  const [ed25519, p256] = [keyEncodings.ED25519, keyEncodings.P256];
  const spki = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" });
  expect(sentence(p256, spki)).toBe("The SubjectPublicKeyInfo names ED25519, not P256.");
  expect(sentence(ed25519, spki)).toBe("accepted");
});

it.each([
  ["ED25519", () => generateKeyPairSync("ed25519")],
  ["ED448", () => generateKeyPairSync("ed448")],
  ["P256", () => generateKeyPairSync("ec", { namedCurve: "P-256" })],
  ["P384", () => generateKeyPairSync("ec", { namedCurve: "P-384" })],
  ["P521", () => generateKeyPairSync("ec", { namedCurve: "P-521" })],
  ["SECP256K1", () => generateKeyPairSync("ec", { namedCurve: "secp256k1" })],
])("recognizes what OpenSSL writes for %s", (algorithm, generate) => {
  const spki = generate().publicKey.export({ type: "spki", format: "der" });
  expect(algorithmOfSubjectPublicKeyInfo(spki)).toBe(algorithm);
});

it.each([
  ["RSA", () => generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ["X25519", () => generateKeyPairSync("x25519")],
  ["P-224", () => generateKeyPairSync("ec", { namedCurve: "secp224r1" })],
  ["brainpool", () => generateKeyPairSync("ec", { namedCurve: "brainpoolP256r1" })],
])("does not recognize %s", (_, generate) => {
  const spki = generate().publicKey.export({ type: "spki", format: "der" });
  expect(algorithmOfSubjectPublicKeyInfo(spki)).toBeUndefined();
});

it("is stricter than OpenSSL, which takes a hybrid point and trailing bytes", () => {
  const spki = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "der" });
  const trailing = Buffer.concat([spki, Buffer.from([0])]);
  expect(createPublicKey({ key: trailing, type: "spki", format: "der" }).asymmetricKeyType).toBe("ec");
  expect(sentence(keyEncodings.P256, trailing)).toMatch(/^A public key of /);
});

it("reads the example public key of RFC 9909", () => {
  const spki = Buffer.from("MDAwCwYJYIZIAWUDBAMUAyEAK4EJ7Hd8qk4fAkzPz5SX2ZGAUJKA9CVq8rB6+AKJtJQ=", "base64");
  expect(algorithmOfSubjectPublicKeyInfo(spki)).toBe("SLHDSA_SHA2_128S");
  expect(bytesToHex(Either.getOrThrow(bareKey(keyEncodings.SLHDSA_SHA2_128S, spki)))).toBe(
    "2b8109ec777caa4e1f024ccfcf9497d99180509280f4256af2b07af80289b494",
  );
});

it("reads the example public key of RFC 9881", () => {
  // The key of the seed 00 01 … 1f; its start and the header before it are compared.
  const { publicKey } = ml_dsa44.keygen(Uint8Array.from({ length: 32 }, (_, index) => index));
  const spki = concatBytes(hexToBytes("30820532300b06096086480165030403110382052100"), publicKey);
  expect(Buffer.from(spki).toString("base64")).toMatch(
    /^MIIFMjALBglghkgBZQMEAxEDggUhANeytHJUquDbReeTDUqY0sl9jxOX0Xidr6FwJLMW6b7JT8mUbULxm3mnQTu6oz5xSctC7VEVaTrAQfrLmIretf4O/,
  );
  expect(algorithmOfSubjectPublicKeyInfo(spki)).toBe("MLDSA44");
  expect(Either.getOrThrow(bareKey(keyEncodings.MLDSA44, spki))).toEqual(publicKey);
});
