/** Random bytes of this machine, and names made of them. */
import { randomBytes } from "node:crypto";
import type { Digest, Entropy } from "../../core/base/Digest.ts";

const drawn = (): string => randomBytes(32).toString("hex");

/** For what stays here. */
export const entropy = (): Entropy => drawn() as Entropy;

/** For what is shown to others. */
export const nonce = (): Digest => drawn() as Digest;

/** Names for requests; the random part tells those of this process from those of an earlier process of the peer. */
export const requestNames = (): (() => string) => {
  const process = randomBytes(9).toString("base64url");
  let count = 0;
  return () => `${process}-${(++count).toString(36)}`;
};
