import { describe, expect, it } from "vitest";
import type { Digest } from "../base/Digest.ts";
import { Changes } from "./Changes.ts";
import type { Write } from "./Tables.ts";

const insert = (key: number, id = "a"): Write => ({
  op: "insert",
  table: "readable",
  key: String(key),
  row: { recoveryId: id as Digest },
});
const replace = (key: number, id: string): Write => ({ ...insert(key, id), op: "replace" }) as Write;
const remove = (key: number): Write => ({ op: "remove", table: "readable", key: String(key) });
const slot = (key: number): Write => ({
  op: "remove",
  table: "slots",
  key: String(key),
});

describe("the changes of a step", () => {
  // On both sides of the size up to which they are searched one by one.
  it.each([1, 24, 25, 26, 100])("are one for each row, of %i rows", (rows) => {
    const changes = new Changes();
    for (let key = 0; key < rows; key++) {
      changes.add(insert(key));
      changes.add(slot(key));
    }
    for (let key = 0; key < rows; key++) changes.add(replace(key, "b"));
    expect(changes.count).toBe(2 * rows);
    expect(changes.toArray()).toEqual(Array.from({ length: rows }, (_, key) => [insert(key, "b"), slot(key)]).flat());
    for (let key = 0; key < rows; key++) changes.add(remove(key));
    expect(changes.count).toBe(rows);
    expect(changes.toArray()).toEqual(Array.from({ length: rows }, (_, key) => slot(key)));
    for (let key = 0; key < rows; key++) changes.add(insert(key, "c"));
    expect(changes.toArray()).toEqual([
      ...Array.from({ length: rows }, (_, key) => slot(key)),
      ...Array.from({ length: rows }, (_, key) => insert(key, "c")),
    ]);
  });

  it("are found past those that undo each other, among many too", () => {
    const changes = new Changes();
    changes.add(insert(0));
    changes.add(remove(0));
    for (let key = 0; key < 30; key++) changes.add(insert(key));
    for (let key = 0; key < 30; key++) changes.add(replace(key, "b"));
    expect(changes.toArray()).toEqual(Array.from({ length: 30 }, (_, key) => insert(key, "b")));
  });

  it("turn a removal followed by an insertion into a replacement", () => {
    const changes = new Changes();
    changes.add(remove(1));
    changes.add(insert(1, "b"));
    expect(changes.toArray()).toEqual([replace(1, "b")]);
  });

  it.each<readonly [string, Write, Write]>([
    ["insert after insert", insert(1), insert(1, "b")],
    ["insert after replace", replace(1, "a"), insert(1, "b")],
    ["replace after remove", remove(1), replace(1, "b")],
  ])("name the row that two of them contradict each other about: %s", (what, earlier, later) => {
    const changes = new Changes();
    changes.add(earlier);
    expect(() => changes.add(later)).toThrow(`S13: one step has ${what} of the row readable/1`);
  });

  it("take a row away once, however often it is gone", () => {
    const changes = new Changes();
    changes.add(remove(1));
    changes.add(remove(1));
    expect(changes.toArray()).toEqual([remove(1)]);
  });

  it("tell whether they leave a row", () => {
    const changes = new Changes();
    expect(changes.leaves("readable", "1")).toBe(undefined);
    changes.add(insert(1));
    expect([changes.leaves("readable", "1"), changes.leaves("slots", "1")]).toEqual([true, undefined]);
    changes.add(replace(1, "b"));
    expect(changes.leaves("readable", "1")).toBe(true);
    changes.add(remove(1));
    // Inserted and removed again: the row is as committed.
    expect(changes.leaves("readable", "1")).toBe(undefined);
    changes.add(remove(2));
    expect(changes.leaves("readable", "2")).toBe(false);
  });
});
