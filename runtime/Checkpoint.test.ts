import { beforeEach, describe, expect, it } from "vitest";
import type { Rows, Write } from "../core/Tables.ts";
import { crypto } from "../properties/cluster/Cluster.ts";
import { commitTo, integrityKeyOf, peerRow, storedRow } from "../properties/store/SealedRows.ts";
import { tables as schema } from "../core/Tables.ts";
import type { ByteStore } from "./ByteStore.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { MemoryCheckpoint } from "../properties/store/MemoryCheckpoint.ts";
import { SealedStore } from "./SealedStore.ts";

const integrity = integrityKeyOf(1);
const owner = (id: string): Rows["keys"] => ({ id });
const insert = (key: string, id: string): Write => ({ op: "insert", table: "keys", key, row: owner(id) });
const replace = (key: string, id: string): Write => ({ op: "replace", table: "keys", key, row: owner(id) });
const remove = (key: string): Write => ({ op: "remove", table: "keys", key });
const many = Array.from({ length: 150 }, (_, index) => insert(`m${String(index).padStart(3, "0")}`, "somebody"));

let tables: MemoryTables;
let file: MemoryCheckpoint;
let store: SealedStore;

const open = (
  bytes: ByteStore = new MemoryByteStore({ tables }),
  checkpoint = file,
  mostChanges = 1024 * 1024,
): SealedStore => {
  const opened = new SealedStore(bytes, crypto, schema, checkpoint, mostChanges);
  opened.useKey(integrity);
  return opened;
};
const commit = (...writes: ReadonlyArray<Write>): void => commitTo(store, ...writes);
/** A store as a process has it that goes on from the checkpoint. */
const resumed = (): SealedStore => {
  const opened = open();
  expect(opened.resume()).toBe(true);
  return opened;
};
const rest = (opened: SealedStore): string | undefined => {
  const pages = opened.verifyRest();
  let page = pages.next();
  while (page.done !== true) page = pages.next();
  return page.value;
};

beforeEach(() => {
  tables = new Map();
  file = new MemoryCheckpoint();
  store = open();
  commit(peerRow(integrity.publicKey), insert("a", "alice"));
  expect(store.verifyAll()).toBeUndefined();
  commit(insert("b", "bob"), insert("c", "carol"), ...many);
  commit(replace("a", "anna"), remove("c"));
});

describe("a checkpoint", () => {
  it("lets a killed process go on at once, and the rest be verified while it writes", () => {
    store = resumed();
    expect(store.get("keys", "a")).toEqual({ id: "anna" });
    expect(store.get("keys", "c")).toBeUndefined();
    const pages = store.verifyRest();
    const turns: ReadonlyArray<() => void> = [
      () => commit(replace("a", "ada"), remove("m149")),
      () => commit(insert("a0", "before"), insert("z", "behind"), remove("m000")),
      () => commit(remove("z"), replace("m001", "other"), insert("m001a", "new")),
      () => commit(replace("m148", "last")),
      () => commit(insert("zz", "last of all")),
    ];
    let turn = 0;
    let page = pages.next();
    for (; page.done !== true; page = pages.next()) turns[turn++]?.();
    expect(turn).toBeGreaterThan(turns.length - 1);
    expect(page.value).toBeUndefined();
    // Nothing is proven one by one any more.
    commit(insert("y", "yves"));
    expect(open().verifyAll()).toBeUndefined();
    expect(rest(resumed())).toBeUndefined();
  });

  it("tells a read of a row that was changed, deleted, added, moved or put back from an older time", () => {
    const [bob, anna] = [storedRow(tables, "keys", "b"), storedRow(tables, "keys", "a")];
    commit(replace("b", "bella"), insert("d", "dora"));
    const dora = storedRow(tables, "keys", "d");
    commit(remove("d"));
    // The seals of older rows are still needed by others, so nothing but the checkpoint tells.
    tables.get("keys")?.set("b", bob);
    tables.get("keys")?.delete("m007");
    expect(() => resumed().get("keys", "b")).toThrow("keys/b: it is not the row that was written last");
    expect(() => resumed().recalling.get("keys", "b")).toThrow("keys/b");
    expect(() => resumed().get("keys", "m007")).toThrow("keys/m007: the row is missing");
    expect(resumed().get("keys", "a")).toEqual({ id: "anna" });
    tables.get("keys")?.set("a", { ...anna, row: Uint8Array.of(...anna.row.slice(0, -1), 0) });
    expect(() => resumed().get("keys", "a")).toThrow("the seal does not hold");
    tables.get("keys")?.set("d", dora);
    expect(() => resumed().get("keys", "d")).toThrow();
    tables.get("keys")?.set("e", dora);
    expect(() => resumed().get("keys", "e")).toThrow("the seal does not hold");
    const opened = resumed();
    expect(() => opened.commit([replace("b", "bea")], () => undefined)).toThrow("keys/b");
  });

  it("tells a removed row that was put back with its seal", () => {
    commit(insert("d", "dora"), insert("e", "eve"));
    const dora = storedRow(tables, "keys", "d");
    commit(remove("d"));
    tables.get("keys")?.set("d", dora);
    expect(() => resumed().get("keys", "d")).toThrow("keys/d: no such row was left there");
  });

  it("has a table proven whole before it is scanned, and all of them in the end", () => {
    tables.get("keys")?.delete("m007");
    expect(() => resumed().scan("keys", "z", 1)).toThrow("keys: 1 rows are missing");
    expect(() => resumed().keys("keys", "z", 1)).toThrow("keys: 1 rows are missing");
    expect(resumed().scan("peer", "", 9)).toHaveLength(1);
    expect(rest(resumed())).toBe("keys: 1 rows are missing");
  });

  it("finds changed rows and seals in the end, and names rows", () => {
    const row = storedRow(tables, "keys", "m100");
    tables.get("keys")?.set("m100", { ...row, row: Uint8Array.of(...row.row.slice(0, -1), 0) });
    expect(rest(resumed())).toBe("keys/m100: the seal does not hold");
    tables.get("keys")?.set("m100", row);
    expect(rest(resumed())).toBeUndefined();
    const seal = storedRow(tables, "seals", "0000000000000001");
    tables.get("seals")?.set("0000000000000001", { ...seal, row: Uint8Array.of(...seal.row.slice(0, -1), 0) });
    expect(rest(resumed())).toBe("the rows do not add up to the signed head");
  });

  it("shows both sides of a transaction under way, whichever a reader meets", () => {
    const memory = new MemoryByteStore({ tables });
    let finish: () => void = () => undefined;
    /** Readers see the rows as they are in `tables`; the end is reported later. */
    const slow: ByteStore = {
      get: memory.get,
      scan: memory.scan,
      keys: memory.keys,
      commit: (changes, done) => {
        finish = () => memory.commit(changes, done);
      },
    };
    const opened = open(slow);
    expect(opened.resume()).toBe(true);
    const before = structuredClone(tables);
    opened.commit([replace("a", "ada"), insert("d", "dora"), remove("b")], () => undefined);
    expect(opened.get("keys", "a")).toEqual({ id: "anna" });
    expect(opened.get("keys", "b")).toEqual({ id: "bob" });
    expect(opened.get("keys", "d")).toBeUndefined();
    expect(opened.scan("keys", "", 3).map(({ key }) => key)).toEqual(["a", "b", "m000"]);
    expect(rest(opened)).toBeUndefined();
    finish();
    expect(opened.get("keys", "a")).toEqual({ id: "ada" });
    expect(opened.get("keys", "b")).toBeUndefined();
    tables = before;
    expect(open().resume()).toBe(true);
  });

  it("is not believed without the key, at another head, torn, changed, or with the disk of another time", () => {
    const [whole, disk] = [file.bytes, structuredClone(tables)];
    const isBelieved = (bytes: Uint8Array | undefined, rows: MemoryTables = tables): boolean =>
      open(new MemoryByteStore({ tables: rows }), new MemoryCheckpoint(bytes)).resume();
    expect(isBelieved(whole)).toBe(true);
    expect(isBelieved(undefined)).toBe(false);
    expect(isBelieved(whole.slice(0, -1))).toBe(false);
    // What stands behind the last transaction was never believed; this is a transaction that has not come to be.
    expect(isBelieved(Uint8Array.of(...whole, 0, 0, 0, 9, 1))).toBe(true);
    for (let at = 0; at < whole.length; at += 7) {
      const changed = whole.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(isBelieved(changed)).toBe(false);
    }
    const other = new SealedStore(new MemoryByteStore({ tables }), crypto, schema, new MemoryCheckpoint(whole));
    other.useKey({ ...integrity, setKey: new Uint8Array(32).fill(7) });
    expect(other.resume()).toBe(false);
    commit(replace("b", "bella"));
    expect(isBelieved(whole)).toBe(false);
    // The later file goes with the earlier disk too: it tells each transaction apart.
    expect(isBelieved(file.bytes, disk)).toBe(true);
    // Two disks of one past have the same numbers and other rows.
    const fork = open(new MemoryByteStore({ tables: disk }), new MemoryCheckpoint(whole));
    expect(fork.resume()).toBe(true);
    commitTo(fork, replace("b", "berta"));
    expect(isBelieved(file.bytes, disk)).toBe(false);
  });

  it("forgets a transaction that has not come to be, and is made anew when it grows long", () => {
    const before = structuredClone(tables);
    commit(insert("lost", "nobody"));
    tables = before;
    store = resumed();
    commit(insert("d", "dora"));
    expect(resumed().get("keys", "d")).toEqual({ id: "dora" });
    expect(resumed().get("keys", "lost")).toBeUndefined();
    store = open(new MemoryByteStore({ tables }), file, 500);
    expect(store.resume()).toBe(true);
    const sizes = Array.from({ length: 40 }, (_, index) => {
      commit(insert(`n${index}`, "new"));
      return file.bytes.length;
    });
    expect(sizes.filter((size, index) => size < (sizes[index - 1] ?? 0)).length).toBeGreaterThan(2);
    expect(rest(resumed())).toBeUndefined();
  });
});
