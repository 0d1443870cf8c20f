import { expect, it } from "vitest";
import { SealUses } from "./SealUses.ts";

it("counts the rows of transactions that have a seal, and of no other", () => {
  const uses = new SealUses();
  expect(uses.add(5, 1)).toBe(false);
  expect(uses.of(5)).toBeUndefined();
  for (const transaction of [5, 1023, 1024, 70_000]) {
    uses.start(transaction);
    expect(uses.add(transaction, 3)).toBe(true);
    uses.add(transaction, -1);
    expect(uses.of(transaction)).toBe(2);
  }
  uses.end(5);
  expect([uses.of(5), uses.of(6), uses.of(1024), uses.of(1e9)]).toEqual([undefined, undefined, 2, undefined]);
  expect(uses.add(5, 1)).toBe(false);
});

it("never takes one for without rows that had more of them than it counts", () => {
  const uses = new SealUses();
  uses.start(1);
  uses.add(1, 0xffff);
  for (const gone of [1, 0xfffd, 1]) {
    uses.add(1, -gone);
    expect(uses.of(1)).toBe(Number.POSITIVE_INFINITY);
  }
});
