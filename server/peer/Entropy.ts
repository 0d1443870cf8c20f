/** Random bytes of this machine, and names made of them. */
import { randomBytes } from "node:crypto";
import type { Digest } from "../../core/base/Digest.ts";

export const entropy = (): Digest =>
  // The brand is the length: 32 bytes.
  randomBytes(32).toString("hex") as Digest;

/** Names for requests; the random part tells those of this process from those of an earlier process of the peer. */
export const requestNames = (): (() => string) => {
  const process = randomBytes(9).toString("base64url");
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
};
