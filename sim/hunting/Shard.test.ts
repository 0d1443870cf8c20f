import { Either } from "effect";
import { describe, expect, it } from "vitest";
import type { SeedRange } from "./Seeds.ts";
import { parseShard, shardOf } from "./Shard.ts";

describe("a shard", () => {
  it.each(["1/1", "2/8", "8/8", "10000/10000"])("is read: %s", (text) => {
    const [index, count] = text.split("/").map(Number);
    expect(parseShard(text)).toEqual(Either.right({ index, count }));
  });

  it.each(["", "0/8", "9/8", "1/0", "1/10001", "a/b", "1", "1/2/3", "-1/2", "1.5/2"])("is refused: %s", (text) => {
    expect(Either.isLeft(parseShard(text))).toBe(true);
  });

  it.each<SeedRange>([
    { first: 1, last: 100_000 },
    { first: 7, last: 13 },
    { first: 0, last: 2 ** 48 },
  ])("covers %o with the others, each seed once", (range) => {
    for (const count of [1, 2, 3, 7, 8]) {
      let next = range.first;
      for (let index = 1; index <= count; index++) {
        const part = shardOf(range, { index, count });
        if (part === undefined) continue;
        expect(part.first).toBe(next);
        expect(part.last).toBeGreaterThanOrEqual(part.first);
        next = part.last + 1;
      }
      expect(next).toBe(range.last + 1);
    }
  });

  it("has nothing where there are fewer seeds than shards", () => {
    const parts = [1, 2, 3].map((index) => shardOf({ first: 5, last: 6 }, { index, count: 3 }));
    expect(parts.filter((part) => part !== undefined)).toHaveLength(2);
  });
});
