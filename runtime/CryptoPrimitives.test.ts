import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import type { Digest } from "../core/base/Digest.ts";
import { cryptoOf } from "./CryptoPrimitives.ts";
import { noblePrimitives } from "./NobleCrypto.ts";

const element = (index: number): Digest => bytesToHex(sha256(Uint8Array.of(index >> 8, index & 255))) as Digest;

it("takes out of a set what was put in, whether it is remembered or was forgotten long ago", () => {
  const crypto = cryptoOf(noblePrimitives);
  const MANY = 600;
  let set = crypto.emptySet;
  for (let index = 0; index < MANY; index++) set = crypto.replaceInSet(set, undefined, element(index));
  // In another order and without remembered elements: each in place of one that was there before.
  for (let index = 0; index < MANY; index++) set = crypto.replaceInSet(set, element(index), element(MANY + index));
  const other = cryptoOf(noblePrimitives);
  let sum = other.emptySet;
  for (let index = 2 * MANY - 1; index >= MANY; index--) sum = other.replaceInSet(sum, undefined, element(index));
  expect(crypto.setDigest(set)).toBe(other.setDigest(sum));
  expect(crypto.setDigest(crypto.replaceInSet(set, element(MANY), element(0)))).not.toBe(other.setDigest(sum));
});
