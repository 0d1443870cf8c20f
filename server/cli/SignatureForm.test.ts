import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromForm, inForm } from "./SignatureForm.ts";

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("an ECDSA signature in DER", () => {
  it.each([
    ["P256", p256],
    ["SECP256K1", secp256k1],
  ])("is what the library writes, of %s", (_name, curve) => {
    fc.assert(
      fc.property(bytes, bytes, (seed, message) => {
        const secret = curve.utils.randomSecretKey(Uint8Array.of(...seed, ...new Uint8Array(16)));
        const raw = curve.sign(message, secret, { prehash: false, format: "compact" });
        const der = curve.Signature.fromBytes(raw, "compact").toBytes("der");
        expect(inForm("der", "ECDSA", raw)).toEqual(Either.right(Uint8Array.from(der)));
        expect(fromForm("der", "ECDSA", der)).toEqual(Either.right(raw));
      }),
      { numRuns: 20 },
    );
  });

  it("comes back for every r and s, those with leading zeros too", () => {
    const half = fc
      .tuple(fc.integer({ min: 0, max: 31 }), bytes)
      .map(([zeros, digits]) =>
        Uint8Array.from(digits, (digit, at) => (at < zeros ? 0 : at === 31 ? digit | 1 : digit)),
      );
    fc.assert(
      fc.property(half, half, (r, s) => {
        const raw = Uint8Array.of(...r, ...s);
        const back = Either.flatMap(inForm("der", "ECDSA", raw), (der) => fromForm("der", "ECDSA", der));
        expect(back).toEqual(Either.right(raw));
      }),
    );
  });
});

it.each([
  ["of another scheme", "EdDSA", 64],
  ["of another length", "ECDSA", 63],
])("is none %s", (_what, scheme, length) => {
  expect(Either.isLeft(inForm("der", scheme, new Uint8Array(length).fill(1)))).toBe(true);
});

it("refuses a file that is no DER", () => {
  expect(Either.isLeft(fromForm("der", "ECDSA", new Uint8Array(64).fill(1)))).toBe(true);
});

it("leaves raw signatures as they are", () => {
  const raw = new Uint8Array(100).fill(7);
  expect([inForm("raw", "MLDSA", raw), fromForm("raw", "MLDSA", raw)]).toEqual([Either.right(raw), Either.right(raw)]);
});
