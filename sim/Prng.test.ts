import { expect, it } from "vitest";
import { streamsOf } from "./Prng.ts";

const draws = (seed: number): string => {
  const streams = streamsOf(seed);
  return Object.values(streams)
    .map((stream) => stream.digest().slice(0, 16))
    .join(" ");
};

it("gives every seed, neighbouring or large, and every concern a stream of its own", () => {
  const seeds = [0, 1, 2, 3, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 2 ** 48];
  const all = seeds.flatMap((seed) => draws(seed).split(" "));
  expect(new Set(all).size).toBe(all.length);
  expect(draws(42)).toBe(draws(42));
});

it("keeps to its bounds and reaches both of them", () => {
  const { plan } = streamsOf(1);
  const seen = new Set(Array.from({ length: 500 }, () => plan.between(-2, 2)));
  expect([...seen].toSorted((left, right) => left - right)).toEqual([-2, -1, 0, 1, 2]);
  expect([plan.chance(0), plan.chance(1000)]).toEqual([false, true]);
});

it("draws nothing where the answer is certain", () => {
  const left = streamsOf(9).network;
  const right = streamsOf(9).network;
  left.chance(0);
  left.chance(1000);
  expect(left.below(1_000_000)).toBe(right.below(1_000_000));
});
