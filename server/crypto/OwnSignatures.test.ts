import { describe, expect, it } from "vitest";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { OwnSignatures } from "./OwnSignatures.ts";

const numbered = (index: number): Uint8Array => Uint8Array.of(index & 255, (index >> 8) & 255);

describe("signatures of this process", () => {
  it("are asked for first, and only the newest are remembered", () => {
    let asked = 0;
    const own = new OwnSignatures({
      ...noblePrimitives,
      verifyEd25519: () => {
        asked += 1;
        return false;
      },
    });
    const { verifyEd25519 } = own.primitives;
    const key = Uint8Array.of(9);
    for (let index = 0; index <= 16_384; index++) own.remember(key, numbered(index), numbered(index));
    expect(verifyEd25519(key, numbered(16_384), numbered(16_384))).toBe(true);
    expect(verifyEd25519(key, numbered(8192), numbered(8192))).toBe(true);
    expect(asked).toBe(0);
    expect(verifyEd25519(key, numbered(8191), numbered(8191))).toBe(false);
    expect(verifyEd25519(Uint8Array.of(8), numbered(9000), numbered(9000))).toBe(false);
    expect(verifyEd25519(key, numbered(9001), numbered(9000))).toBe(false);
    expect(asked).toBe(3);
  });

  it("are known by a digest: what was signed is not kept, which may be long and hold secrets", () => {
    const own = new OwnSignatures({ ...noblePrimitives, verifyEd25519: () => false });
    const { verifyEd25519 } = own.primitives;
    const [key, signature] = [Uint8Array.of(9), numbered(1)];
    const message = Uint8Array.of(1, 2, 3);
    own.remember(key, message, signature);
    message.fill(0);
    expect(verifyEd25519(key, Uint8Array.of(1, 2, 3), signature)).toBe(true);
    expect(verifyEd25519(key, message, signature)).toBe(false);
  });
});
