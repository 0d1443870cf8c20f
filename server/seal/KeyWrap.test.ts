import { describe, expect, it } from "vitest";
import type { PublicKey } from "../../core/base/Digest.ts";
import { keyWrap } from "./KeyWrap.ts";

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const publicKey = "ab".repeat(32) as PublicKey;
const own = keyWrap(filled(32, 1));
const blob = own.wrap(publicKey, filled(32, 0xaa), filled(24, 2));

describe("the encrypted form of an integrity key", () => {
  it("opens for the peer that made it, and shows no byte of the seed", () => {
    expect(own.unwrap(publicKey, blob)).toEqual(filled(32, 0xaa));
    expect(Buffer.from(blob).toString("hex")).not.toMatch(/(aa){4}/);
  });

  it("opens for no other peer, under no other public key, and with no bit changed", () => {
    expect(keyWrap(filled(32, 3)).unwrap(publicKey, blob)).toBeUndefined();
    expect(own.unwrap("cd".repeat(32) as PublicKey, blob)).toBeUndefined();
    for (let index = 0; index < blob.length; index += 1) {
      const changed = blob.slice();
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(own.unwrap(publicKey, changed)).toBeUndefined();
    }
    expect(own.unwrap(publicKey, blob.slice(1))).toBeUndefined();
  });

  it("is not made from parts of the wrong length", () => {
    expect(() => own.wrap(publicKey, filled(31, 0), filled(24, 0))).toThrow(RangeError);
    expect(() => own.wrap(publicKey, filled(32, 0), filled(12, 0))).toThrow(RangeError);
  });
});
