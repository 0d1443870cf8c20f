import { describe, expect, it } from "vitest";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { OwnSignatures } from "./OwnSignatures.ts";

const numbered = (index: number): Uint8Array => Uint8Array.of(index & 255, (index >> 8) & 255);

describe("signatures of this process", () => {
  it("are asked for first, and only the newest are remembered", () => {
    const own = new OwnSignatures();
    let asked = 0;
    const { verifyEd25519 } = own.knownTo({
      ...noblePrimitives,
      verifyEd25519: () => {
        asked += 1;
        return false;
      },
    });
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
});
