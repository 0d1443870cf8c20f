import { expect, it } from "vitest";
import { entropyOf } from "./Prng.ts";

it("gives every seed, neighbouring or large, and every user entropy of its own", () => {
  const seeds = [0, 1, 2, 3, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 2 ** 48];
  const all = seeds.flatMap((seed) => [0, 1, 2, 9].map((user) => entropyOf(seed, user).digest()));
  expect(new Set(all).size).toBe(all.length);
  expect(entropyOf(42, 1).digest()).toBe(entropyOf(42, 1).digest());
});
