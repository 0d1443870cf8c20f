import { describe, expect, it } from "vitest";
import { bytes } from "../../core/codec/Codec.ts";
import { cryptoBackend } from "./CryptoBackend.ts";

const material = (byte: number) => ({
  identitySeed: new Uint8Array(32).fill(byte),
  integritySeed: new Uint8Array(32).fill(byte + 1),
});
const content = bytes(16);
const value = Uint8Array.of(1, 2, 3);

describe.each(["native", "portable"] as const)("the %s backend", (name) => {
  it("believes its own signatures for exactly what they were made for", () => {
    const { crypto, keysOf } = cryptoBackend(name);
    const { identity, integrity } = keysOf(material(1));
    const signature = identity.sign("TAG", content, value);
    expect(crypto.verify(identity.publicKey, "TAG", content, value, signature)).toBe(true);
    expect(crypto.verify(identity.publicKey, "TAG", content, Uint8Array.of(1, 2, 4), signature)).toBe(false);
    expect(crypto.verify(identity.publicKey, "OTHER", content, value, signature)).toBe(false);
    expect(crypto.verify(integrity.publicKey, "TAG", content, value, signature)).toBe(false);
  });

  it("makes the same keys and signatures of the same seeds as the other one, and needs the seeds no longer", () => {
    const seeds = material(7);
    const keys = cryptoBackend(name).keysOf(seeds);
    seeds.identitySeed.fill(0);
    seeds.integritySeed.fill(0);
    const other = cryptoBackend(name === "native" ? "portable" : "native");
    const others = other.keysOf(material(7));
    expect(keys.identity.publicKey).toBe(others.identity.publicKey);
    expect(keys.integrity.publicKey).toBe(others.integrity.publicKey);
    expect(keys.integrity.setKey).toEqual(others.integrity.setKey);
    const signature = keys.identity.sign("TAG", content, value);
    expect(signature).toBe(others.identity.sign("TAG", content, value));
    expect(cryptoBackend(name).crypto.verify(keys.identity.publicKey, "TAG", content, value, signature)).toBe(true);
  });

  it("keys the digest over all rows by the identity, so that no integrity key gives it away", () => {
    const { keysOf } = cryptoBackend(name);
    const own = keysOf(material(1));
    const others = keysOf({ ...material(3), integritySeed: material(1).integritySeed });
    expect(own.integrityKeyOf(material(5).integritySeed).setKey).toEqual(own.integrity.setKey);
    expect(others.integrity.publicKey).toBe(own.integrity.publicKey);
    expect(others.integrity.setKey).not.toEqual(own.integrity.setKey);
  });
});
