import { expect, it } from "vitest";
import type { StoredRow } from "./ByteStore.ts";
import { OpenedRows } from "./OpenedRows.ts";

const stored = (row: string, seal = "seal"): StoredRow => ({
  row: Uint8Array.from(Buffer.from(row)),
  seal: Uint8Array.from(Buffer.from(seal)),
});
const value = { id: "alice" };

it("knows a row by its place and its very bytes", () => {
  const rows = new OpenedRows();
  rows.set("keys", "a", stored("row"), value);
  expect(rows.get("keys", "a", stored("row"))).toBe(value);
  for (const other of [
    stored("rov"),
    stored("ro"),
    stored("row", "seam"),
    stored("row", "seal2"),
    stored("", "rowseal"),
  ])
    expect(rows.get("keys", "a", other)).toBeUndefined();
  expect(rows.get("keys", "b", stored("row"))).toBeUndefined();
  expect(rows.get("terms", "a", stored("row"))).toBeUndefined();
  rows.clear();
  expect(rows.get("keys", "a", stored("row"))).toBeUndefined();
});

it("keeps the last so many, or so many bytes, and at most twice as many", () => {
  for (const rows of [new OpenedRows(4), new OpenedRows(100, 32)]) {
    for (let index = 0; index < 9; index++) rows.set("keys", `k${index}`, stored("row-", "seal"), value);
    const kept = Array.from({ length: 9 }, (_, index) => rows.get("keys", `k${index}`, stored("row-", "seal")));
    expect(kept).toEqual([undefined, undefined, undefined, undefined, value, value, value, value, value]);
  }
});
