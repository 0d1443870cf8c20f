import { expect, it } from "vitest";
import type { Digest, PublicKey } from "../../core/base/Digest.ts";
import { HeardOnce } from "./HeardOnce.ts";

it("takes what a key has signed in once, and the same number of another key", () => {
  const { isFirst } = new HeardOnce();
  const [one, other] = ["a" as PublicKey, "b" as PublicKey];
  const nonce = (of: number): Digest => `${of}` as Digest;
  expect([isFirst(one, nonce(0)), isFirst(one, nonce(0)), isFirst(other, nonce(0))]).toEqual([true, false, true]);
  for (let of = 1; of < 1_000; of++) expect(isFirst(one, nonce(of))).toBe(true);
  expect([isFirst(one, nonce(0)), isFirst(other, nonce(0))]).toEqual([false, false]);
});
