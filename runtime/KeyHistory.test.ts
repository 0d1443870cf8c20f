import { beforeEach, describe, expect, it } from "vitest";
import { type Write } from "../core/Tables.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import { commitTo, integrityKeyOf, openSealed, peerRow, storedRow } from "../properties/store/SealedRows.ts";
import type { StoredRow } from "./ByteStore.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import type { IntegrityKey } from "./RowSeal.ts";
import type { SealedStore } from "./SealedStore.ts";

const [first, second, third] = [integrityKeyOf(1), integrityKeyOf(2), integrityKeyOf(3)];

const insert = (key: string): Write => ({ op: "insert", table: "keys", key, row: { id: key } });
const replace = (key: string): Write => ({ op: "replace", table: "keys", key, row: { id: `${key} again` } });
const keyRow = (version: number, { publicKey }: IntegrityKey): Write => ({
  op: "insert",
  table: "integrity",
  key: numberKey(version),
  row: { publicKey, blob: new Uint8Array(4) },
});

let tables: MemoryTables;
let store: SealedStore;

const open = (...keys: ReadonlyArray<IntegrityKey>): SealedStore =>
  openSealed(new MemoryByteStore({ tables }), ...keys);
const onDisk = (table: "keys" | "integrity", key: string): StoredRow => storedRow(tables, table, key);

beforeEach(() => {
  tables = new Map();
  store = open(first, second, third);
  commitTo(store, peerRow(first.publicKey), insert("a"), insert("b"));
  commitTo(store, keyRow(2, second));
  commitTo(store, insert("c"), replace("b"));
  commitTo(store, keyRow(3, third));
  commitTo(store, insert("d"));
});

describe("a history of integrity keys", () => {
  it("keeps what every one of them sealed, and goes on with the newest", () => {
    for (const each of [store, open(first, second, third), open(first, third, second)]) {
      expect(each.scan("keys", "", 9).map(({ row }) => row.id)).toEqual(["a", "b again", "c", "d"]);
      expect(each.verifyAll()).toBeUndefined();
    }
    commitTo(open(first, second, third), replace("a"), { op: "remove", table: "keys", key: "c" });
    expect(open(first, second, third).verifyAll()).toBeUndefined();
  });

  it("reads without private keys, and writes with all of them only", () => {
    expect(open().get("keys", "d")).toEqual({ id: "d" });
    expect(() => commitTo(open(first, second), insert("e"))).toThrow("integrity/0000000000000003");
    expect(open(first, second).verifyAll()).toContain("integrity/0000000000000003");
  });

  it("is missed where a row of it was taken away, and nothing is written then", () => {
    for (const version of [2, 3]) {
      const key = numberKey(version);
      const row = onDisk("integrity", key);
      tables.get("integrity")?.delete(key);
      const opened = open(first, second, third);
      expect(opened.get("keys", "a")).toEqual({ id: "a" });
      expect(() => opened.get("keys", "d")).toThrow("not in the history");
      expect(opened.verifyAll()).toContain("not in the history");
      expect(() => commitTo(opened, insert("e"))).toThrow("not in the history");
      tables.get("integrity")?.set(key, row);
    }
    expect(open(first, second, third).verifyAll()).toBeUndefined();
  });

  it("is refused where a row of it was changed; what older keys sealed still reads", () => {
    const key = numberKey(2);
    const { row, seal } = onDisk("integrity", key);
    const changed = row.slice();
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    tables.get("integrity")?.set(key, { row: changed, seal });
    const opened = open(first, second, third);
    expect(opened.get("keys", "a")).toEqual({ id: "a" });
    expect(() => opened.get("keys", "c")).toThrow(`integrity/${key}: the seal does not hold`);
    expect(() => commitTo(opened, insert("e"))).toThrow("the seal does not hold");
  });

  /** Puts a row here with the seal of its transaction, the last one of these, which somebody made elsewhere. */
  const bring = (table: "keys" | "integrity", key: string, ...made: ReadonlyArray<ReadonlyArray<Write>>): void => {
    const here = tables;
    tables = new Map();
    const other = open(first, second, third);
    for (const writes of made) commitTo(other, ...writes);
    const seal = numberKey(made.length);
    const found = [onDisk(table, key), storedRow(tables, "seals", seal)] as const;
    tables = here;
    tables.get(table)?.set(key, found[0]);
    tables.get("seals")?.set(seal, found[1]);
  };
  const peer = peerRow(first.publicKey);

  it("lets no older key seal anything of a later time", () => {
    bring("keys", "z", [peer], [insert("x")], [insert("y")], [insert("z")]);
    expect(() => open(first, second, third).get("keys", "z")).toThrow("an integrity key of another time");
  });

  it("lets no later key seal anything of an earlier time", () => {
    bring("keys", "y", [peer, keyRow(2, second)], [keyRow(3, third)], [insert("y")]);
    expect(() => open(first, second, third).get("keys", "y")).toThrow("an integrity key of another time");
  });

  it("is refused where a key was brought in by another one than the key before it", () => {
    const key = numberKey(3);
    bring("integrity", key, [peer, keyRow(3, third)]);
    const opened = open(first, second, third);
    expect(opened.get("keys", "c")).toEqual({ id: "c" });
    expect(() => opened.get("keys", "d")).toThrow(`integrity/${key}: the key before it did not seal it`);
  });

  it("does not add up when somebody with an old key makes up the whole store as of the end of that key's time", () => {
    tables = new Map();
    const thief = open({ ...first, setKey: new Uint8Array(32).fill(1) });
    commitTo(thief, peerRow(first.publicKey), insert("forged"));
    commitTo(thief, keyRow(2, second));
    const opened = open(first, second);
    expect(opened.get("keys", "forged")).toEqual({ id: "forged" });
    expect(opened.verifyAll()).toBe("head/self: rows are missing, too many, or not those that it was signed for");
  });
});
