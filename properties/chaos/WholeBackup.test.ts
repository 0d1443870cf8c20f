/** A backup that was accepted is judged by what its peer stored: a true one passes, and each that lies is found. */
import { describe, expect, it } from "vitest";
import type { TableName } from "../../core/Tables.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import type { AcceptedBackup } from "./Backups.ts";
import type { Transaction } from "./Journal.ts";
import { assertWholeBackup } from "./WholeBackup.ts";

const table: TableName = "approvers";
const made = (number: number, key: string, process = 1): Transaction => ({
  number,
  process,
  stamp: 100 * process + 10 * number,
  writes: [],
  rows: [[table, key, Uint8Array.of(number)]],
});

const holding = (...rows: ReadonlyArray<readonly [key: string, byte: number]>): MemoryTables =>
  new Map([
    [table, new Map(rows.map(([key, byte]) => [key, { row: Uint8Array.of(byte), seal: Uint8Array.of() }] as const))],
  ]);

/** Asked for when transaction 2 had been begun, so 1 was certainly stored. */
const backup = (transactions: number, more: Partial<AcceptedBackup> = {}): AcceptedBackup => ({
  slot: 1,
  file: "it.tar",
  transactions,
  from: 125,
  processes: [1, 1],
  ...more,
});

const stored = [made(1, "a"), made(2, "b"), made(3, "c")];

const faultOf = (...given: Parameters<typeof assertWholeBackup>): string | undefined => {
  try {
    assertWholeBackup(...given);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

describe("an accepted backup", () => {
  it("is what the peer had at any moment after it was asked for", () => {
    expect(faultOf(backup(1), holding(["a", 1]), stored)).toBeUndefined();
    expect(faultOf(backup(2), holding(["a", 1], ["b", 2]), stored)).toBeUndefined();
    expect(faultOf(backup(3), holding(["a", 1], ["b", 2], ["c", 3]), stored)).toBeUndefined();
  });

  it("is found out where it lacks a row, has another, or one too many", () => {
    expect(faultOf(backup(2), holding(["a", 1]), stored)).toContain("approvers/b was made durable, and it is not");
    expect(faultOf(backup(2), holding(["a", 1], ["b", 9]), stored)).toContain("has another");
    expect(faultOf(backup(2), holding(["a", 1], ["b", 2], ["c", 3]), stored)).toContain("approvers/c was never stored");
  });

  it("is found out where it is older than its request, or newer than the peer", () => {
    expect(faultOf(backup(0), holding(), stored)).toContain("1 was stored before it was asked for");
    expect(faultOf(backup(4), holding(), stored)).toContain("never made");
  });

  it("is what one of the processes had that it may be from, and no other", () => {
    // Transaction 3 of the first process was undone by a restore, and made anew by the second.
    const twice = [...stored, made(3, "d", 2)];
    const [first, second] = [holding(["a", 1], ["b", 2], ["c", 3]), holding(["a", 1], ["b", 2], ["d", 3])];
    expect(faultOf(backup(3), first, twice)).toBeUndefined();
    expect(faultOf(backup(3), second, twice)).toContain("approvers/c");
    expect(faultOf(backup(3, { processes: [1, 2] }), second, twice)).toBeUndefined();
    expect(faultOf(backup(3, { processes: [2, 2] }), first, twice)).toContain("approvers/d");
  });
});
