import { describe, expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import { cryptoBackend } from "../crypto/CryptoBackend.ts";
import { AheadSealed } from "./AheadSealed.ts";

const signerOf = (fill: number) => {
  const seed = (by: number): Uint8Array => new Uint8Array(32).fill(fill + by);
  return cryptoBackend("portable").keysOf({ identitySeed: seed(0), integritySeed: seed(1) }).identity;
};
const message: Message = { _tag: "Forwarded", requestId: "r" };
const envelope = Uint8Array.of(1);

describe("envelopes sealed ahead", () => {
  it("are given out once, for their message and receiver alone", () => {
    const ahead = new AheadSealed();
    const signer = signerOf(1);
    ahead.keep(2, message, { signer, envelope, isSigned: true });
    ahead.keep(3, message, { signer, envelope: Uint8Array.of(3), isSigned: false });
    expect(ahead.take(2, { ...message }, signer)).toBeUndefined();
    expect(ahead.take(4, message, signer)).toBeUndefined();
    expect(ahead.take(2, message, signer)).toEqual({ signer, envelope, isSigned: true });
    expect(ahead.take(2, message, signer)).toBeUndefined();
    expect(ahead.take(3, message, signer)).toMatchObject({ envelope: Uint8Array.of(3), isSigned: false });
  });

  it("do not outlive their key", () => {
    for (const now of [signerOf(5), undefined]) {
      const ahead = new AheadSealed();
      ahead.keep(2, message, { signer: signerOf(1), envelope, isSigned: true });
      expect(ahead.take(2, message, now)).toBeUndefined();
    }
  });
});
