import { expect, it } from "vitest";
import { SealUses } from "./SealUses.ts";

it("counts the rows of transactions that have a seal, and of no other", () => {
  const uses = new SealUses();
  expect(uses.of(5)).toBeUndefined();
  for (const transaction of [5, 1023, 1024, 70_000]) {
    uses.start(transaction);
    uses.add(transaction, 3);
    uses.add(transaction, -1);
    expect(uses.of(transaction)).toBe(2);
  }
  uses.end(5);
  expect([uses.of(5), uses.of(6), uses.of(1024), uses.of(1e9)]).toEqual([undefined, undefined, 2, undefined]);
  expect([uses.unsealed, uses.unneeded]).toEqual([undefined, []]);
});

it("tells which rows have no seal, and which seals no rows, in whatever order they were found", () => {
  const uses = new SealUses();
  uses.add(7, 2);
  uses.add(2_000, 1);
  uses.start(3);
  expect([uses.of(7), uses.unsealed, uses.unneeded]).toEqual([undefined, 7, [3]]);
  uses.start(7);
  expect([uses.of(7), uses.unsealed]).toEqual([2, 2_000]);
  uses.start(2_000);
  uses.add(7, -2);
  expect([uses.unsealed, uses.unneeded]).toEqual([undefined, [3, 7]]);
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
