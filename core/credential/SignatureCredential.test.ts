import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { descriptorJson, normalizeCredential, refDigest } from "./SignatureCredential.ts";
import { installedProviders, type SignatureProvider } from "./SignatureProvider.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";

const { sha256OfText } = cryptoOf(noblePrimitives);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const normalized = (algorithm: string, publicKey64: string, providers = installedProviders) =>
  normalizeCredential(providers, algorithm, publicKey64);
const refusal = (...submitted: Parameters<typeof normalized>) =>
  Either.getOrThrow(Either.flip(normalized(...submitted)));
const faultOf = (...submitted: Parameters<typeof normalized>) => {
  const { code, faults } = refusal(...submitted);
  return [code, ...faults.map((fault) => `${fault.pointer} ${fault.code}`)];
};

const key = ed25519.getPublicKey(new Uint8Array(32).fill(1));
const key64 = base64(key);

/** Accepts anything, so that only the checks before it count. */
const anything: ReadonlyMap<string, SignatureProvider> = new Map([
  ["ANY", { algorithm: "ANY", normalize: (encoded: Uint8Array) => Either.right(encoded) }],
]);

describe("a credential", () => {
  it("is the normal form of the key under its canonical algorithm", () => {
    const point = p256.Point.BASE.multiply(7n);
    for (const form of [point.toBytes(true), point.toBytes(false)]) {
      expect(normalized("P256", base64(form))).toEqual(
        Either.right({
          credential: { type: "SIGNATURE", algorithm: "P256", publicKey64: base64(point.toBytes(true)) },
          keyBytes: point.toBytes(true),
        }),
      );
    }
  });

  it("names a provider, by case", () => {
    for (const algorithm of ["ed25519", "RSA", "", "__proto__", "toString"]) {
      expect(faultOf(algorithm, key64)).toEqual([
        "UNSUPPORTED_ALGORITHM",
        "/credential/algorithm unsupported_algorithm",
      ]);
    }
    expect(refusal("RSA", key64).hint).toContain("SLHDSA_SHAKE_256F");
  });

  it("passes the provider's reason on", () => {
    const { code, faults } = refusal("ED25519", base64(ed25519.Point.ZERO.toBytes()));
    expect(code).toBe("INVALID_PUBLIC_KEY");
    expect(faults).toEqual([
      { pointer: "/credential/publicKey64", code: "invalid_key", detail: "The point is of small order." },
    ]);
  });

  it("is not quoted where it is refused", () => {
    const text = JSON.stringify([refusal("s3cr3t", key64), refusal("P256", key64), refusal("P256", "s3cr3t")]);
    expect(text).not.toContain("s3cr3t");
    expect(text).not.toContain(key64);
  });
});

describe("Base64", () => {
  const refused = ["INVALID_PUBLIC_KEY", "/credential/publicKey64 invalid_base64"];

  it.each([
    ["line breaks", `${key64.slice(0, 20)}\n${key64.slice(20)}`],
    ["a carriage return at the end", `${key64}\r`],
    ["space", ` ${key64}`],
    ["no padding", key64.replace("=", "")],
    ["too much padding", `${key64}=`],
    ["a whole group of padding", `${key64}====`],
    ["padding inside", "AA==AAAA"],
    ["padding alone", "===="],
    ["another character", `${key64.slice(0, -2)}*=`],
    ["a character beyond ASCII", `${key64.slice(0, -2)}é=`],
    ["a length of 4n + 1", "AAAAA"],
    ["no padding where one is due", "AAA"],
  ])("is refused with %s", (_, text) => expect(faultOf("ED25519", text)).toEqual(refused));

  it("has one alphabet", () => {
    expect(Either.getOrThrow(normalized("ANY", "+/+/", anything)).keyBytes).toEqual(Uint8Array.of(0xfb, 0xff, 0xbf));
    for (const text of ["-_-_", "+/-_"]) expect(faultOf("ANY", text, anything)).toEqual(refused);
  });

  it("has no bits left over in the last character", () => {
    expect(Either.isRight(normalized("ANY", "AA==", anything))).toBe(true);
    expect(Either.isRight(normalized("ANY", "AAA=", anything))).toBe(true);
    for (const text of ["AB==", "AP==", "AAB=", "AAD="]) expect(faultOf("ANY", text, anything)).toEqual(refused);
  });

  it("takes a key of at most 4096 bytes, and looks at no longer text", () => {
    expect(Limits.publicKeyBytes).toBe(4096);
    const tooLong = ["INVALID_PUBLIC_KEY", "/credential/publicKey64 too_long"];
    expect(Either.isRight(normalized("ANY", base64(new Uint8Array(4096)), anything))).toBe(true);
    expect(faultOf("ANY", base64(new Uint8Array(4097)), anything)).toEqual(tooLong);
    expect(faultOf("ANY", base64(new Uint8Array(4098)), anything)).toEqual(tooLong);
    expect(faultOf("ANY", "*".repeat(5465), anything)).toEqual(tooLong);
    expect(faultOf("ANY", "*".repeat(5464), anything)).toEqual(refused);
  });

  it("of nothing is a key the provider refuses", () => {
    expect(faultOf("ED25519", "")).toEqual(["INVALID_PUBLIC_KEY", "/credential/publicKey64 invalid_key"]);
  });
});

describe("the digest of a ref", () => {
  const credential = { type: "SIGNATURE", algorithm: "ED25519", publicKey64: key64 } as const;
  const json = `{"algorithm":"ED25519","publicKey64":"${key64}","type":"SIGNATURE","version":1}`;

  it("is over the canonical JSON of version, type, algorithm and key", () => {
    expect(descriptorJson(credential)).toBe(json);
  });

  it("is SHA-256 over tag, zero and JSON, as an independent computation has it", () => {
    const expected = createHash("sha256").update("SERVICE_APPROVER_V1\0").update(json).digest("hex");
    expect(refDigest(sha256OfText, descriptorJson(credential))).toBe(expected);
  });

  it("tells the same bytes on two curves apart", () => {
    // The x coordinates of both curves overlap; an x on either curve is a compressed point of both.
    const shared = Array.from({ length: 60 }, (_, index) => Uint8Array.of(2, ...new Uint8Array(31), index))
      .map(base64)
      .filter((each) => Either.isRight(normalized("P256", each)) && Either.isRight(normalized("SECP256K1", each)));
    expect(shared.length).toBeGreaterThan(0);
    const digests = ["P256", "SECP256K1"].map((algorithm) =>
      refDigest(sha256OfText, descriptorJson({ type: "SIGNATURE", algorithm, publicKey64: shared[0] ?? "" })),
    );
    expect(new Set(digests).size).toBe(2);
    expect(secp256k1.Point.BASE.toBytes()).not.toEqual(p256.Point.BASE.toBytes());
  });
});
