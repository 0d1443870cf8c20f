import { describe, expect, it } from "vitest";
import type { Change } from "../../runtime/ByteStore.ts";
import { statementsOf } from "./Statements.ts";
import { commitRequest } from "./WriterMessage.ts";

const insert = (key: string, row: ReadonlyArray<number>): Change => ({
  op: "insert",
  table: "keys",
  key,
  value: { row: Uint8Array.from(row), seal: Uint8Array.from([...row, 0]) },
});

const removals = (count: number): ReadonlyArray<Change> =>
  Array.from({ length: count }, (_, index) => ({ op: "remove", table: "keys", key: String(index) }));

const sizes = (count: number) => statementsOf(commitRequest(removals(count))).map(({ rows }) => rows);

describe("the statements of a transaction", () => {
  it("gather the rows of one place and kind, each with its own bytes", () => {
    const changes: ReadonlyArray<Change> = [
      insert("a", [1, 2]),
      { op: "remove", table: "outbox", key: "x" },
      insert("b", []),
      { op: "replace", table: "head", key: "self", value: { row: new Uint8Array([7]), seal: new Uint8Array() } },
    ];
    const bytes = (...values: ReadonlyArray<number>) => Uint8Array.from(values);
    expect(statementsOf(commitRequest(changes))).toEqual([
      {
        sql: "INSERT INTO records (row, seal, name, key) VALUES (?,?,?,?),(?,?,?,?)",
        parameters: [bytes(1, 2), bytes(1, 2, 0), "keys", "a", bytes(), bytes(0), "keys", "b"],
        rows: 2,
      },
      { sql: "DELETE FROM working WHERE name = ? AND key = ?", parameters: ["outbox", "x"], rows: 1 },
      {
        sql: "UPDATE working SET row = ?, seal = ? WHERE name = ? AND key = ?",
        parameters: [bytes(7), bytes(), "head", "self"],
        rows: 1,
      },
    ]);
  });

  it("come in few sizes, so that they stay prepared", () => {
    expect(sizes(1)).toEqual([1]);
    expect(sizes(3)).toEqual([3]);
    expect(sizes(8)).toEqual([8]);
    expect(sizes(9)).toEqual([8, 1]);
    expect(sizes(63)).toEqual([32, 16, 8, 7]);
    expect(sizes(64)).toEqual([64]);
    expect(sizes(65)).toEqual([64, 1]);
    expect(sizes(200)).toEqual([64, 64, 64, 8]);
  });
});
