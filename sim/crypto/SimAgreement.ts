/**
 * A stand-in for key agreements: which secret belongs to a public half only this file's closures know. Inside the
 * simulation nobody else can tell what two of them share; outside it protects nothing.
 */
import { hexToBytes } from "@noble/hashes/utils.js";
import type { Digest, Entropy } from "../../core/base/Digest.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { Mixer } from "../base/Mixer.ts";

export const simAgreement = (): Pick<Crypto, "agreementKey" | "agree"> => {
  const secrets = new Map<Digest, Entropy>();
  const mixer = new Mixer();
  const hash = (seed: number, ...parts: ReadonlyArray<Entropy>): string => {
    mixer.reset(seed);
    for (const part of parts) mixer.hex(part);
    return mixer.hash.repeat(4);
  };
  return {
    agreementKey: (secret) => {
      const half = hash(23, secret) as Digest;
      secrets.set(half, secret);
      return half;
    },
    agree: (own, half) => {
      const theirs = secrets.get(half);
      if (theirs === undefined) return undefined;
      return hexToBytes(own < theirs ? hash(29, own, theirs) : hash(29, theirs, own));
    },
  };
};
