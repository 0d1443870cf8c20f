/** Random bytes of this machine. */
import { randomBytes } from "node:crypto";
import type { Digest } from "../../core/base/Digest.ts";

export const entropy = (): Digest =>
  // The brand is the length: 32 bytes.
  randomBytes(32).toString("hex") as Digest;
