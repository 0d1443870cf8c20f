/** What keys of every suite sign, judged by others: OpenSSL where it knows the algorithm, and BIP 340 in plain numbers. */
import { createHash, createPublicKey, verify as opensslVerify } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { installedProviders } from "../../core/credential/SignatureProvider.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import { type Suite, suiteOf, usualSuite } from "../../core/threshold/Suite.ts";
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { outputKey, verifiesBip340 } from "./PlainBip340.ts";

const suite = (algorithm: string, scheme: string): Suite => {
  const found = suiteOf(nobleKeyCrypto, algorithm, scheme);
  if (found === undefined) throw new Error(`no suite of ${algorithm} with ${scheme}`);
  return found;
};

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

/** A key, a message that it signs, and the signature. */
const signed = ({ solo, messageBytes }: Suite) =>
  fc
    .record({
      seed: bytes(32),
      entropy: bytes(32),
      message: messageBytes === undefined ? fc.uint8Array({ maxLength: 100 }) : bytes(messageBytes),
    })
    .map(({ seed, entropy, message }) => {
      const { publicKey, secret } = solo.keyOf(new Secret(seed));
      return { publicKey, secret, message, signature: solo.sign(secret, message, new Secret(entropy)) };
    });

const names = nobleKeyCrypto.suites.map(({ algorithm, scheme }) => [algorithm, scheme] as const);
const few = { numRuns: 5 };

const keyObject = (der: Uint8Array) => createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });

const derOf = ({ spki }: Suite, publicKey: string): Uint8Array => {
  const der = spki(publicKey);
  if (der === undefined) throw new Error("the algorithm has no SubjectPublicKeyInfo");
  return der;
};

/** Whether this Node's OpenSSL knows keys of the suite. */
const isKnownToOpenssl = (each: Suite): boolean => {
  try {
    keyObject(derOf(each, each.solo.keyOf(new Secret(new Uint8Array(32))).publicKey));
    return true;
  } catch {
    return false;
  }
};

const flipped = (hex: string, at: number): string => {
  const changed = hexToBytes(hex);
  changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ 1;
  return bytesToHex(changed);
};

describe.each(names)("a key of %s for %s that is not shared", (algorithm, scheme) => {
  const each = suite(algorithm, scheme);

  it("signs what it verifies, and nothing else verifies", () => {
    fc.assert(
      fc.property(signed(each), fc.nat(5_000), ({ publicKey, message, signature }, at) => {
        expect(each.verify(publicKey, message, signature)).toBe(true);
        expect(each.verify(publicKey, message, flipped(signature, at))).toBe(false);
        expect(each.verify(publicKey, Uint8Array.of(...message, 1), signature)).toBe(false);
        expect(each.verify(publicKey, message, `${signature}00`)).toBe(false);
        expect(each.verify(`${publicKey}00`, message, signature)).toBe(false);
      }),
      few,
    );
  });

  it("is one key for one seed, with a secret of 32 bytes", () => {
    const [one, again, other] = [1, 1, 2].map((byte) => each.solo.keyOf(new Secret(new Uint8Array(32).fill(byte))));
    expect(again?.publicKey).toBe(one?.publicKey);
    expect(other?.publicKey).not.toBe(one?.publicKey);
    expect(one?.secret.expose()).toHaveLength(32);
  });

  it("takes no secret of another length", () => {
    const message = new Uint8Array(32);
    for (const length of [31, 33])
      expect(() => each.solo.sign(new Secret(new Uint8Array(length).fill(1)), message, new Secret(message))).toThrow();
  });
});

/** Signatures that need no randomness take none; all others take what they are given. */
it.each(names.filter(([algorithm]) => algorithm !== "ED25519"))(
  "hedges signatures of %s for %s",
  (algorithm, scheme) => {
    const { solo, verify } = suite(algorithm, scheme);
    const { publicKey, secret } = solo.keyOf(new Secret(new Uint8Array(32).fill(7)));
    const message = new Uint8Array(32).fill(9);
    const [one, same, other] = [1, 1, 2].map((byte) =>
      solo.sign(secret, message, new Secret(new Uint8Array(32).fill(byte))),
    );
    expect(same).toBe(one);
    expect(other).not.toBe(one);
    expect(verify(publicKey, message, other ?? "")).toBe(true);
  },
);

const ofOpenssl = names.filter(([algorithm, scheme]) => isKnownToOpenssl(suite(algorithm, scheme)));

it("finds Ed25519 and both curves in OpenSSL", () => {
  expect(ofOpenssl.map(([algorithm, scheme]) => `${algorithm} ${scheme}`)).toEqual(
    expect.arrayContaining(["ED25519 EdDSA", "SECP256K1 ECDSA", "P256 ECDSA"]),
  );
});

describe.each(ofOpenssl)("OpenSSL, about %s for %s", (algorithm, scheme) => {
  const each = suite(algorithm, scheme);
  const isHashed = each.messageBytes !== undefined;
  /** ECDSA signs a hash: what OpenSSL hashes is signed here as its digest. */
  const message = (data: Uint8Array): Uint8Array => (isHashed ? createHash("sha256").update(data).digest() : data);

  it("verifies the signature under the SubjectPublicKeyInfo", () => {
    fc.assert(
      fc.property(bytes(32), fc.uint8Array({ maxLength: 100 }), (seed, data) => {
        const { publicKey, secret } = each.solo.keyOf(new Secret(seed));
        const signature = hexToBytes(each.solo.sign(secret, message(data), new Secret(new Uint8Array(32))));
        const key = { key: keyObject(derOf(each, publicKey)), dsaEncoding: "ieee-p1363" } as const;
        expect(opensslVerify(isHashed ? "sha256" : null, data, key, signature)).toBe(true);
      }),
      few,
    );
  });
});

it.each(names)("writes a public key of %s for %s in the form that an approver's has, if any", (algorithm, scheme) => {
  const each = suite(algorithm, scheme);
  const { publicKey } = each.solo.keyOf(new Secret(new Uint8Array(32).fill(3)));
  const der = each.spki(publicKey);
  const normal = der && installedProviders.get(algorithm)?.normalize(der);
  expect(normal && Either.map(normal, bytesToHex)).toEqual(der && Either.right(publicKey));
  expect(der === undefined).toBe(["BIP340", "TAPROOT"].includes(scheme));
});

describe("ECDSA", () => {
  it.each([
    ["SECP256K1", 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n],
    ["P256", 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n],
  ])("has the low S alone, over %s", (algorithm, order) => {
    const each = suite(algorithm, "ECDSA");
    fc.assert(
      fc.property(signed(each), ({ publicKey, message, signature }) => {
        const s = BigInt(`0x${signature.slice(64)}`);
        expect(s <= order / 2n).toBe(true);
        const high = signature.slice(0, 64) + (order - s).toString(16).padStart(64, "0");
        expect(each.verify(publicKey, message, high)).toBe(false);
      }),
      few,
    );
  });

  it("knows a key by its compressed point alone", () => {
    const each = suite("SECP256K1", "ECDSA");
    const [sample] = fc.sample(signed(each), 1);
    if (sample === undefined) throw new Error("no sample");
    const whole = secp256k1.Point.fromHex(sample.publicKey).toHex(false);
    expect(each.verify(whole, sample.message, sample.signature)).toBe(false);
  });
});

describe("BIP 340, in plain numbers", () => {
  it.each(["BIP340", "TAPROOT"])("verifies signatures of %s", (scheme) => {
    fc.assert(
      fc.property(signed(suite("SECP256K1", scheme)), ({ publicKey, message, signature }) => {
        expect(verifiesBip340(hexToBytes(publicKey), message, hexToBytes(signature))).toBe(true);
        expect(verifiesBip340(hexToBytes(publicKey), message, hexToBytes(flipped(signature, 40)))).toBe(false);
      }),
      few,
    );
  });

  /** The first vector of the test vectors of BIP 86. */
  it("gives the output key of BIP 86 for its inner key", () => {
    const inner = hexToBytes("cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115");
    const output = "a60869f0dbcf1dc659c9cecbaf8050135ea9e8cdc487053f1dc6880949dc684c";
    expect(outputKey(inner).toString("hex")).toBe(output);
  });

  it("has the key of TAPROOT be the output key of what is stored", () => {
    fc.assert(
      fc.property(signed(suite("SECP256K1", "TAPROOT")), ({ publicKey, secret }) => {
        const inner = secp256k1.getPublicKey(secret.expose()).slice(1);
        expect(outputKey(inner).toString("hex")).toBe(publicKey);
      }),
      few,
    );
  });
});

it("takes the first suite of an algorithm where no scheme is named", () => {
  expect(usualSuite(nobleKeyCrypto, "SECP256K1")?.scheme).toBe("BIP340");
});

it("has no two suites of one name", () => {
  const all = names.map(([algorithm, scheme]) => `${algorithm} ${scheme}`);
  expect(new Set(all).size).toBe(all.length);
});
