/** One list of cases for every implementation of the byte store. */
import { unsafeUniformIntDistribution, xoroshiro128plus } from "pure-rand";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TableName } from "../core/Tables.ts";
import { type ByteStore, type Change, StoreFailure, type StoredRow } from "../runtime/ByteStore.ts";
import type { OpenedStore } from "./store/Implementation.ts";
import { implementations } from "./store/Implementations.ts";

const stored = (row: string | Uint8Array, seal = "seal"): StoredRow => ({
  row: typeof row === "string" ? new Uint8Array(Buffer.from(row)) : row,
  seal: new Uint8Array(Buffer.from(seal)),
});

const insert = (key: string, row: string | Uint8Array = key, table: TableName = "approvers"): Change => ({
  op: "insert",
  table,
  key,
  value: stored(row),
});

const replace = (key: string, row: string, table: TableName = "approvers"): Change => ({
  op: "replace",
  table,
  key,
  value: stored(row),
});

const remove = (key: string, table: TableName = "approvers"): Change => ({ op: "remove", table, key });

const textOf = (store: ByteStore, key: string, table: TableName = "approvers"): string | undefined => {
  const found = store.get(table, key);
  return found && Buffer.from(found.row).toString();
};

const keysOf = (store: ByteStore, after = "", limit = 1_000_000, table: TableName = "approvers") =>
  store.scan(table, after, limit).map(({ key }) => key);

describe.each(implementations.map(({ name, open }) => [name, open] as const))("the byte store on %s", (_, open) => {
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(() => opened.dispose());

  const start = (changes: ReadonlyArray<Change>): Promise<void> =>
    new Promise((resolve, reject) => {
      opened.store().commit(changes, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });

  const commit = (...changes: ReadonlyArray<Change>): Promise<void> => {
    const outcome = start(changes);
    opened.advance();
    return outcome;
  };

  it("starts empty", () => {
    expect(opened.store().get("approvers", "a")).toBeUndefined();
    expect(opened.store().scan("approvers", "", 10)).toEqual([]);
  });

  it("inserts, replaces and removes, in each table by itself", async () => {
    await commit(insert("a", "first"), insert("a", "another", "keys"));
    expect(opened.store().get("approvers", "a")).toEqual(stored("first"));
    await commit({ op: "replace", table: "approvers", key: "a", value: stored("second", "new seal") });
    expect(opened.store().get("approvers", "a")).toEqual(stored("second", "new seal"));
    await commit(remove("a"));
    expect(opened.store().get("approvers", "a")).toBeUndefined();
    expect(textOf(opened.store(), "a", "keys")).toBe("another");
    await commit(insert("a", "third"));
    expect(textOf(opened.store(), "a")).toBe("third");
  });

  const mismatches: ReadonlyArray<readonly [string, Change]> = [
    ["an insert of a key that exists", insert("here", "again")],
    ["a replacement of a key that is missing", replace("gone", "new")],
    ["a removal of a key that is missing", remove("gone")],
  ];

  it.each(mismatches)("%s fails, leaves nothing behind and poisons the store", async (_, mismatch) => {
    await commit(insert("here", "old"), insert("other", "old"));
    await expect(commit(insert("new"), replace("other", "new"), mismatch, remove("here", "keys"))).rejects.toThrow(
      StoreFailure,
    );
    expect(() => opened.store().get("approvers", "here")).toThrow(StoreFailure);
    expect(() => opened.store().scan("approvers", "", 1)).toThrow(StoreFailure);
    await expect(commit(insert("later"))).rejects.toThrow(StoreFailure);
    await opened.reopen();
    expect(keysOf(opened.store())).toEqual(["here", "other"]);
    expect(textOf(opened.store(), "other")).toBe("old");
  });

  it("a missing key among many of its kind fails them all", async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    await commit(...keys.map((key) => insert(key)));
    await expect(commit(...keys.map((key) => replace(key, "new")), replace("gone", "new"))).rejects.toThrow(
      StoreFailure,
    );
    await opened.reopen();
    await expect(commit(...keys.map((key) => remove(key)), remove("gone"))).rejects.toThrow(StoreFailure);
    await opened.reopen();
    expect(keys.map((key) => textOf(opened.store(), key))).toEqual(keys);
  });

  it("scans in the order of the keys' bytes, after a key, up to a limit", async () => {
    const ordered = [
      " ",
      "!",
      "-",
      ".",
      "0",
      "00",
      "01",
      "1",
      "10",
      "9",
      "A",
      "Z",
      "_",
      "a",
      "a!",
      "a0",
      "aa",
      "b",
      "~",
    ];
    await commit(...ordered.toReversed().map((key) => insert(key)));
    expect(keysOf(opened.store())).toEqual(ordered);
    expect(opened.store().scan("approvers", "~", 10)).toEqual([]);
    expect(opened.store().scan("approvers", "", 0)).toEqual([]);
    expect(keysOf(opened.store(), "a")).toEqual(["a!", "a0", "aa", "b", "~"]);
    expect(keysOf(opened.store(), "a", 4)).toEqual(["a!", "a0", "aa", "b"]);
    expect(keysOf(opened.store(), "a", 5)).toEqual(["a!", "a0", "aa", "b", "~"]);
    expect(keysOf(opened.store(), "a", 6)).toEqual(["a!", "a0", "aa", "b", "~"]);
    expect(keysOf(opened.store(), "05", 1)).toEqual(["1"]);
    expect(opened.store().scan("approvers", "b", 1)).toEqual([{ key: "~", value: stored("~") }]);
    expect(opened.store().scan("keys", "", 10)).toEqual([]);
  });

  it("gives keys alone from a key on, itself included, up to a limit, as committed", async () => {
    await commit(...["b", "a/2", "a/10", "a/1"].map((key) => insert(key)), insert("a/3", "x", "keys"));
    const { keys } = opened.store();
    expect(keys("approvers", "", 10)).toEqual(["a/1", "a/10", "a/2", "b"]);
    expect(keys("approvers", "a/1", 2)).toEqual(["a/1", "a/10"]);
    expect(keys("approvers", "a/1 ", 2)).toEqual(["a/10", "a/2"]);
    expect([keys("approvers", "c", 9), keys("approvers", "", 0), keys("outbox", "", 9)]).toEqual([[], [], []]);
    expect(() => keys("approvers", "", -1)).toThrow(TypeError);
    await commit(remove("a/2"), replace("b", "again"));
    expect(keys("approvers", "a/10", 9)).toEqual(["a/10", "b"]);
  });

  it("pages through all rows once", async () => {
    const ordered = Array.from({ length: 101 }, (_, index) => `k${String(index).padStart(3, "0")}`);
    await commit(...ordered.map((key) => insert(key)));
    const seen: Array<string> = [];
    for (let page = keysOf(opened.store(), "", 20); page.length > 0; page = keysOf(opened.store(), seen.at(-1), 20)) {
      seen.push(...page);
    }
    expect(seen).toEqual(ordered);
  });

  it("keeps binary rows of any length, and reads plain arrays", async () => {
    const every = Uint8Array.from({ length: 256 }, (_, index) => index);
    const mebibyte = new Uint8Array(1024 * 1024).fill(7);
    const view = every.subarray(100, 120);
    await commit(
      insert("empty", new Uint8Array()),
      insert("every", every),
      insert("large", mebibyte),
      insert("view", view),
    );
    await commit({ op: "replace", table: "approvers", key: "empty", value: { row: every, seal: new Uint8Array() } });
    await commit(insert("empty again", new Uint8Array()));
    await opened.reopen();
    expect(opened.store().get("approvers", "empty")).toEqual({ row: every, seal: new Uint8Array() });
    expect(opened.store().get("approvers", "empty again")?.row).toEqual(new Uint8Array());
    expect(opened.store().get("approvers", "every")?.row).toEqual(every);
    expect(opened.store().get("approvers", "view")?.row).toEqual(Uint8Array.from(view));
    const large = opened.store().get("approvers", "large");
    expect(large && Buffer.compare(large.row, mebibyte)).toBe(0);
    for (const { value } of opened.store().scan("approvers", "", 10)) {
      expect(Object.getPrototypeOf(value.row)).toBe(Uint8Array.prototype);
      expect(Object.getPrototypeOf(value.seal)).toBe(Uint8Array.prototype);
    }
  });

  it("shares no bytes with its callers", async () => {
    const row = new Uint8Array([1, 2, 3]);
    const outcome = start([insert("a", row)]);
    row.fill(9);
    opened.advance();
    await outcome;
    expect(row).toEqual(new Uint8Array([9, 9, 9]));
    opened.store().get("approvers", "a")?.row.fill(8);
    expect(opened.store().get("approvers", "a")?.row).toEqual(new Uint8Array([1, 2, 3]));
  });

  it("shows the old rows while a commit is under way, the new ones once it is done", async () => {
    await commit(insert("a", "old"), insert("b", "old"));
    opened.hold();
    const outcome = start([replace("a", "new"), remove("b"), insert("c", "new")]);
    expect(textOf(opened.store(), "a")).toBe("old");
    expect(keysOf(opened.store())).toEqual(["a", "b"]);
    opened.advance();
    await outcome;
    expect(textOf(opened.store(), "a")).toBe("new");
    expect(keysOf(opened.store())).toEqual(["a", "c"]);
  });

  it("says once that a commit is done, and takes the next one from there", async () => {
    const calls: Array<string> = [];
    await new Promise<void>((resolve) => {
      opened.store().commit([insert("a")], () => {
        calls.push("a");
        opened.store().commit([insert("b")], () => {
          calls.push("b");
          resolve();
        });
        opened.advance();
      });
      opened.advance();
    });
    await commit(insert("c"));
    expect(calls).toEqual(["a", "b"]);
    expect(keysOf(opened.store())).toEqual(["a", "b", "c"]);
  });

  it("keeps everything when it is opened again", async () => {
    await commit(insert("a", "1"), insert("b", "1"), insert("a", "1", "keys"));
    await opened.reopen();
    await commit(replace("a", "2"), remove("b"));
    await opened.reopen();
    expect(opened.store().scan("approvers", "", 10)).toEqual([{ key: "a", value: stored("2") }]);
    expect(opened.store().scan("keys", "", 10)).toEqual([{ key: "a", value: stored("1") }]);
  });

  const mistakes: ReadonlyArray<readonly [string, ReadonlyArray<Change>]> = [
    ["no changes", []],
    ["a row inserted twice", [insert("a"), insert("a")]],
    ["a row inserted and removed", [insert("a"), insert("b"), remove("a")]],
    ["an empty key", [insert("")]],
    ["a key with a control character", [insert("a\u001f")]],
    ["a key beyond ASCII", [insert("a\u007f")]],
    ["a key with an accent", [remove("é")]],
  ];

  it("refuses what can only be a caller's mistake, and stays usable", async () => {
    for (const [name, changes] of mistakes) {
      expect(() => opened.store().commit(changes, () => {}), name).toThrow(TypeError);
    }
    for (const limit of [-1, 0.5, Number.NaN, Infinity]) {
      expect(() => opened.store().scan("approvers", "", limit), String(limit)).toThrow(TypeError);
    }
    await commit(insert("a"), insert("a", "a", "keys"));
    expect(keysOf(opened.store())).toEqual(["a"]);
  });

  it("refuses a second commit while one is under way", async () => {
    opened.hold();
    const outcome = start([insert("a")]);
    expect(() => opened.store().commit([insert("b")], () => {})).toThrow(TypeError);
    opened.advance();
    await outcome;
    expect(keysOf(opened.store())).toEqual(["a"]);
  });

  it("changes any number of rows of each kind in one commit", async () => {
    for (const count of [1, 2, 63, 64, 65, 127, 129, 1000]) {
      const keys = Array.from({ length: count }, (_, index) => `${count}.${String(index).padStart(4, "0")}`);
      await commit(...keys.flatMap((key) => [insert(key, "old"), insert(key, "old", "keys")]));
      await commit(
        ...keys.flatMap((key) => [replace(key, `new ${key}`), remove(key, "keys"), insert(key, key, "outbox")]),
      );
      expect(keys.map((key) => textOf(opened.store(), key))).toEqual(keys.map((key) => `new ${key}`));
      expect(opened.store().scan("keys", "", 1)).toEqual([]);
      expect(keys.map((key) => textOf(opened.store(), key, "outbox"))).toEqual(keys);
    }
  });

  it("agrees with a plain map over three hundred random commits (seed 7)", async () => {
    const random = xoroshiro128plus(7);
    const below = (bound: number) => unsafeUniformIntDistribution(0, bound - 1, random);
    const model = new Map<string, string>();
    for (let round = 0; round < 300; round++) {
      const touched = new Set(Array.from({ length: 1 + below(12) }, () => `k${below(60)}`));
      const changes = [...touched].map((key): Change => {
        if (!model.has(key)) return insert(key, `${round}`);
        return below(3) === 0 ? remove(key) : replace(key, `${round}`);
      });
      await commit(...changes);
      for (const { op, key } of changes) {
        if (op === "remove") model.delete(key);
        else model.set(key, `${round}`);
      }
      const rows = opened.store().scan("approvers", "", 100);
      const found = rows.map(({ key, value }) => [key, Buffer.from(value.row).toString()]);
      expect(found).toEqual([...model].toSorted(([left], [right]) => (left < right ? -1 : 1)));
    }
  });
});
