import { expect, it } from "vitest";
import type { StoredRow } from "./ByteStore.ts";
import { ReadAtStart } from "./ReadAtStart.ts";

const row = (fill: number): StoredRow => ({ row: Uint8Array.of(fill), seal: Uint8Array.of(1) });
const here = (...rows: ReadonlyArray<readonly [string, number]>) =>
  rows.map(([key, fill]) => ({ key, value: row(fill) }));

/** What differs where these rows of `slots` are there when all are looked at. */
const later = (read: ReadAtStart, ...rows: ReadonlyArray<readonly [string, number]>): string | undefined => {
  const comparison = read.comparison();
  for (const { key, value } of here(...rows)) comparison.tell("slots", key, value);
  return comparison.difference();
};
const changed = (key: string): string =>
  `slots/${key}: it is not what it was when this peer was started; start it again`;

it("finds a row that was changed, has gone or has come since it was asked for", () => {
  const read = new ReadAtStart();
  read.note("slots", "1", row(1));
  read.note("slots", "2", undefined);
  expect(later(read, ["1", 1])).toBeUndefined();
  expect(later(read, ["1", 1], ["3", 9])).toBeUndefined();
  expect(later(read, ["1", 2])).toBe(changed("1"));
  expect(later(read, ["1", 1], ["2", 1])).toBe(changed("2"));
  expect(later(read)).toBe(changed("1"));
  const comparison = read.comparison();
  comparison.tell("slots", "1", { ...row(1), seal: Uint8Array.of(2) });
  expect(comparison.difference()).toBe(changed("1"));
});

it("finds a row that has come between those of a page, and none behind it", () => {
  const read = new ReadAtStart();
  read.notePage("slots", "1", 2, here(["2", 1], ["4", 1]));
  expect(later(read, ["1", 9], ["2", 1], ["4", 1], ["5", 9])).toBeUndefined();
  expect(later(read, ["2", 1], ["3", 1], ["4", 1])).toBe(changed("3"));
  read.notePage("slots", "4", 2, []);
  expect(later(read, ["2", 1], ["4", 1], ["5", 9])).toBe(changed("5"));
  expect(later(read, ["2", 1])).toBe(changed("4"));
});

it("finds a row that changed between two reads of the start itself", () => {
  const read = new ReadAtStart();
  read.note("slots", "1", row(1));
  read.notePage("slots", "", 1, here(["1", 2]));
  expect(later(read, ["1", 2])).toBe(changed("1"));
  expect(later(read, ["1", 1])).toBe(changed("1"));
});
