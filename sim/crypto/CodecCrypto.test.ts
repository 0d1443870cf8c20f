import { describe, expect, it } from "vitest";
import { record, text, uint } from "../../core/codec/Codec.ts";
import type { Signature } from "../../core/base/Digest.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { codecCrypto } from "./CodecCrypto.ts";
import { Prng } from "../base/Prng.ts";

const codec = record({ name: text(16), count: uint });
const value = { name: "abc", count: 7 };
const real = cryptoOf(noblePrimitives);
const { crypto, newSigner } = codecCrypto(new Prng(1), noblePrimitives);

it("digests as a real peer does, and keeps the same registry root", () => {
  const digest = crypto.digest("TAG", codec, value);
  expect(digest).toBe(real.digest("TAG", codec, value));
  expect(crypto.sha256(Uint8Array.of(1))).toBe(real.sha256(Uint8Array.of(1)));
  const set = crypto.replaceInSet(crypto.emptySet, undefined, digest);
  expect(crypto.setDigest(set)).toBe(real.setDigest(real.replaceInSet(real.emptySet, undefined, digest)));
});

describe("a signature", () => {
  const signer = newSigner();
  const signed = signer.sign("TAG", codec, value);

  it("is valid for its key, tag and value, again and again", () => {
    expect(crypto.isPublicKey(signer.publicKey)).toBe(true);
    expect(crypto.verify(signer.publicKey, "TAG", codec, value, signed)).toBe(true);
    expect(crypto.verify(signer.publicKey, "TAG", codec, { ...value }, signed)).toBe(true);
    expect(signer.sign("TAG", codec, { ...value })).toBe(signed);
  });

  it("is as long as a real one, and so is its key: both pass the codec", () => {
    expect(signed).toMatch(/^[0-9a-f]{128}$/);
    expect(signer.publicKey).toMatch(/^[0-9a-f]{64}$/);
  });

  it("is not valid for another key, tag or value, nor with any one character changed", () => {
    const other = newSigner();
    expect(other.publicKey).not.toBe(signer.publicKey);
    expect(crypto.verify(other.publicKey, "TAG", codec, value, signed)).toBe(false);
    expect(crypto.verify(signer.publicKey, "GAT", codec, value, signed)).toBe(false);
    expect(crypto.verify(signer.publicKey, "TAG", codec, { ...value, count: 8 }, signed)).toBe(false);
    expect(other.sign("TAG", codec, value)).not.toBe(signed);
    for (let at = 0; at < signed.length; at++) {
      const character = signed[at] === "0" ? "1" : "0";
      const forged = `${signed.slice(0, at)}${character}${signed.slice(at + 1)}` as Signature;
      expect(crypto.verify(signer.publicKey, "TAG", codec, value, forged)).toBe(false);
    }
  });

  it("means nothing to another world", () => {
    const elsewhere = codecCrypto(new Prng(2), noblePrimitives).crypto;
    expect(elsewhere.isPublicKey(signer.publicKey)).toBe(false);
    expect(elsewhere.verify(signer.publicKey, "TAG", codec, value, signed)).toBe(false);
  });
});

it("keeps MACs under different secrets, tags and values apart", () => {
  const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)];
  const macs = [
    crypto.mac(one, "TAG", codec, value),
    crypto.mac(two, "TAG", codec, value),
    crypto.mac(one, "GAT", codec, value),
    crypto.mac(one, "TAG", codec, { ...value, name: "abd" }),
  ];
  expect(new Set(macs).size).toBe(macs.length);
  expect(macs[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(crypto.mac(one, "TAG", codec, value)).toBe(macs[0]);
});
