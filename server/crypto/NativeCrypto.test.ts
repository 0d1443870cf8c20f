import { existsSync, readFileSync } from "node:fs";
import { ed25519 } from "@noble/curves/ed25519.js";
import { Schema } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noblePrimitives, nobleSigning } from "../../runtime/NobleCrypto.ts";
import { nativePrimitives, nativeSigningKey } from "./NativeCrypto.ts";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);

/** The crypto port's verdict by the two primitives: a key must be pinnable before it verifies anything. */
const judge =
  ({ isEd25519Key, verifyEd25519 }: typeof nativePrimitives) =>
  (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
    isEd25519Key(key) && verifyEd25519(key, message, signature);
const native = judge(nativePrimitives);
const portable = judge(noblePrimitives);

const vectorFolder = new URL("../../../shared/vectors/keys/", import.meta.url);
const read = <A>(file: string, schema: Schema.Schema<A>): A =>
  Schema.decodeUnknownSync(schema)(JSON.parse(readFileSync(new URL(file, vectorFolder), "utf8")));

const text = Schema.String;
const edgeCases = Schema.Array(Schema.Struct({ message: text, pub_key: text, signature: text }));
const zip215 = Schema.Array(Schema.Struct({ vk_bytes: text, sig_bytes: text }));
const rfc8032 = Schema.Array(Schema.Struct({ secretKey: text, publicKey: text, message: text, signature: text }));

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const scalarAt = (signature: Uint8Array): bigint =>
  signature.slice(32).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
const withScalar = (signature: Uint8Array, scalar: bigint): Uint8Array => {
  const changed = plain(signature);
  for (let index = 0; index < 32; index++) changed[32 + index] = Number((scalar >> BigInt(8 * index)) & 255n);
  return changed;
};

describe.skipIf(!existsSync(vectorFolder))("both backends on outside vectors (skipped when they are not there)", () => {
  it("agree on the twelve edge cases and refuse all but the ordinary ones", () => {
    const verdicts = read("ed25519-edge-cases.json", edgeCases).map((each) => {
      const parts = [hex(each.pub_key), hex(each.message), hex(each.signature)] as const;
      expect(native(...parts)).toBe(portable(...parts));
      return native(...parts);
    });
    expect(verdicts).toHaveLength(12);
    // Every one of them has a small-order, mixed-order or non-canonical part, or an S that is not reduced.
    expect(verdicts.filter((valid) => valid)).toHaveLength(0);
  });

  it("refuse every ZIP 215 curiosity", () => {
    const message = new TextEncoder().encode("Zcash");
    const vectors = read("zip215.json", zip215);
    expect(vectors).toHaveLength(196);
    for (const each of vectors) {
      expect(native(hex(each.vk_bytes), message, hex(each.sig_bytes))).toBe(false);
      expect(portable(hex(each.vk_bytes), message, hex(each.sig_bytes))).toBe(false);
    }
  });

  it("accept and reproduce RFC 8032 7.1", () => {
    for (const each of read("rfc-8032-eddsa-ed25519.json", rfc8032)) {
      const parts = [hex(each.publicKey), hex(each.message), hex(each.signature)] as const;
      expect([native(...parts), portable(...parts)]).toEqual([true, true]);
      const key = nativeSigningKey(hex(each.secretKey));
      expect(plain(key.publicKey)).toEqual(parts[0]);
      expect(plain(key.sign(parts[1]))).toEqual(parts[2]);
    }
  });
});

describe("both backends on generated input", () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const seed = bytes(32);
  const message = fc.uint8Array({ maxLength: 200 });

  it("sign alike, and accept what either signed", () => {
    fc.assert(
      fc.property(seed, message, (secret, content) => {
        const key = nativeSigningKey(secret);
        const signature = plain(key.sign(content));
        expect(signature).toEqual(plain(nobleSigning.sign(secret, content)));
        expect(native(key.publicKey, content, signature)).toBe(true);
        expect(portable(plain(key.publicKey), content, signature)).toBe(true);
      }),
      { numRuns: 30, seed: 1 },
    );
  });

  it("agree on a signature with any byte changed, a foreign key and another message", () => {
    fc.assert(
      fc.property(seed, message, fc.nat(63), fc.integer({ min: 1, max: 255 }), (secret, content, at, change) => {
        const { publicKey, sign } = nativeSigningKey(secret);
        const signature = plain(sign(content));
        signature[at] = (signature[at] ?? 0) ^ change;
        expect(native(publicKey, content, signature)).toBe(false);
        expect(portable(plain(publicKey), content, signature)).toBe(false);
      }),
      { numRuns: 30, seed: 2 },
    );
  });

  it("agree on random bytes for a key", () => {
    fc.assert(
      fc.property(bytes(32), message, bytes(64), (key, content, signature) => {
        expect(native(key, content, signature)).toBe(portable(key, content, signature));
      }),
      { numRuns: 30, seed: 3 },
    );
  });

  it("refuse a key plus a point of small order, with which one signature has several keys", () => {
    const torsion = ed25519.Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
    const secret = new Uint8Array(32).fill(7);
    const content = new Uint8Array(3);
    const { publicKey, sign } = nativeSigningKey(secret);
    const mixed = ed25519.Point.fromBytes(plain(publicKey)).add(torsion).toBytes();
    expect(native(mixed, content, sign(content))).toBe(false);
    expect(portable(mixed, content, plain(sign(content)))).toBe(false);
  });
});

describe("a signature at the edges of its ranges", () => {
  const content = new Uint8Array([1, 2, 3]);
  const key = nativeSigningKey(new Uint8Array(32).fill(9));
  const signature = plain(key.sign(content));

  it("is refused with S + L, which satisfies the equation too", () => {
    const raised = withScalar(signature, scalarAt(signature) + ORDER);
    expect(native(key.publicKey, content, raised)).toBe(false);
    expect(portable(plain(key.publicKey), content, raised)).toBe(false);
  });

  it("has S = L - 1 looked at and S = L refused, by both", () => {
    for (const scalar of [ORDER - 1n, ORDER, 0n]) {
      const changed = withScalar(signature, scalar);
      expect(native(key.publicKey, content, changed)).toBe(portable(plain(key.publicKey), content, changed));
    }
  });

  it("is refused with the identity for R, canonical or not", () => {
    for (const first of [1, 0xee]) {
      const changed = plain(signature);
      changed.fill(first === 1 ? 0 : 0xff, 0, 32);
      changed[0] = first;
      if (first !== 1) changed[31] = 0x7f;
      expect(native(key.publicKey, content, changed)).toBe(false);
      expect(portable(plain(key.publicKey), content, changed)).toBe(false);
    }
  });

  it("is refused with 63 or 65 bytes", () => {
    expect(native(key.publicKey, content, signature.slice(0, 63))).toBe(false);
    expect(native(key.publicKey, content, Uint8Array.of(...signature, 0))).toBe(false);
  });
});

describe("the hashes", () => {
  it("equal the portable ones", () => {
    for (const length of [0, 1, 55, 56, 64, 135, 136, 137, 168, 1000]) {
      const input = Uint8Array.from({ length }, (_, index) => index & 255);
      expect(plain(nativePrimitives.shake128(input, 2048))).toEqual(plain(noblePrimitives.shake128(input, 2048)));
      expect(nativePrimitives.sha256Hex(input)).toBe(noblePrimitives.sha256Hex(input));
      expect(nativePrimitives.hmacSha256Hex(input, input)).toBe(noblePrimitives.hmacSha256Hex(input, input));
    }
  });

  it("are keyed alike by any key, and after a longer one as before it", () => {
    const filled = (length: number): Uint8Array => new Uint8Array(length).fill(length & 255);
    for (const key of [64, 32, 65, 0, 16])
      for (const message of [1025, 1024, 50, 0])
        expect(nativePrimitives.hmacSha256Hex(filled(key), filled(message))).toBe(
          noblePrimitives.hmacSha256Hex(filled(key), filled(message)),
        );
  });
});

describe("an agreement", () => {
  const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
  const hexOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString("hex");

  // RFC 7748, 6.1.
  const alice = {
    secret: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
    key: "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
  };
  const bob = {
    secret: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
    key: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
  };
  const SHARED = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";

  it.each([nativePrimitives, noblePrimitives])("comes to the same from both sides, in library %#", (library) => {
    for (const [own, other] of [
      [alice, bob],
      [bob, alice],
    ] as const) {
      expect(hexOf(library.agreementKey(bytesOf(own.secret)))).toBe(own.key);
      expect(hexOf(library.agree(bytesOf(own.secret), bytesOf(other.key)))).toBe(SHARED);
    }
  });

  it("is the same in both libraries for any 32 bytes, and none with a key of small order", () => {
    const secret = bytesOf(alice.secret);
    const small = ["00".repeat(32), `01${"00".repeat(31)}`, `ed${"ff".repeat(30)}7f`, `ecff${"ff".repeat(29)}7f`];
    for (const theirs of small)
      for (const { agree } of [nativePrimitives, noblePrimitives])
        expect(agree(secret, bytesOf(theirs))).toBeUndefined();
    for (const byte of [2, 9, 0x7f, 0x80, 0xfe, 0xff]) {
      const theirs = new Uint8Array(32).fill(byte);
      const agreed = hexOf(nativePrimitives.agree(secret, theirs));
      expect(agreed).toBeDefined();
      expect(agreed).toBe(hexOf(noblePrimitives.agree(secret, theirs)));
    }
  });
});
