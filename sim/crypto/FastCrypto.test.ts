import { describe, expect, it } from "vitest";
import { record, text, uint } from "../../core/codec/Codec.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Digest, PublicKey, Signature } from "../../core/base/Digest.ts";
import { fastCrypto } from "./FastCrypto.ts";
import { Prng } from "../base/Prng.ts";

const codec = record({ name: text(16), count: uint });
const value = { name: "a", count: 1 };

describe("the stand-in crypto", () => {
  const { crypto, newSigner } = fastCrypto(new Prng(1));

  it("believes a signature of exactly its key, tag and value", () => {
    const signer = newSigner();
    const other = newSigner();
    const signature = signer.sign("TAG", codec, value);
    const verifies = (key: PublicKey, tag: string, checked: typeof value, given: Signature) =>
      crypto.verify(key, tag, codec, checked, given);
    expect(verifies(signer.publicKey, "TAG", { ...value }, signature)).toBe(true);
    expect(verifies(other.publicKey, "TAG", value, signature)).toBe(false);
    expect(verifies(signer.publicKey, "OTHER", value, signature)).toBe(false);
    expect(verifies(signer.publicKey, "TAG", { ...value, count: 2 }, signature)).toBe(false);
    expect(verifies(signer.publicKey, "TAG", { ...value, name: "b" }, signature)).toBe(false);
    expect(verifies("0".repeat(64) as PublicKey, "TAG", value, signature)).toBe(false);
    expect(verifies(signer.publicKey, "TAG", value, "0".repeat(128) as Signature)).toBe(false);
  });

  it("digests a text as its UTF-8 form", () => {
    for (const text of [
      "",
      "a",
      "abc",
      "abcd",
      "abcde",
      "a longer text of several words",
      "naïve",
      "four 𝄞",
      "\u0000ü",
    ])
      expect(crypto.sha256OfText(text)).toBe(crypto.sha256(utf8Bytes(text)));
  });

  it("tells numbers apart that agree in their low 32 bits", () => {
    const digests = [1, 2 ** 32 + 1, 2 ** 33 + 1].map((count) => crypto.digest("TAG", codec, { ...value, count }));
    expect(new Set(digests).size).toBe(3);
  });

  it("adds up sets in any order, and takes elements out again", () => {
    const [a, b, c] = [1, 2, 3].map((count) => crypto.digest("TAG", codec, { ...value, count })) as [
      Digest,
      Digest,
      Digest,
    ];
    const sum = (...elements: ReadonlyArray<Digest>) =>
      elements.reduce((set, each) => crypto.replaceInSet(set, undefined, each), crypto.emptySet);
    expect(crypto.setDigest(sum(a, b, c))).toBe(crypto.setDigest(sum(c, a, b)));
    expect(crypto.setDigest(crypto.replaceInSet(sum(a, c), a, b))).toBe(crypto.setDigest(sum(b, c)));
    expect(crypto.setDigest(sum(a, a))).not.toBe(crypto.setDigest(sum(a)));
  });
});
