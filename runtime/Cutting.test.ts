/** A range that grows is read a few rows at a time, and is cut only where all of them are what was written. */
import { beforeEach, describe, expect, it } from "vitest";
import { crypto } from "../properties/cluster/Cluster.ts";
import { commitTo, integrityKeyOf, peerRow, storedRow } from "../properties/store/SealedRows.ts";
import { tables as schema, type Write } from "../core/Tables.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { SealedStore } from "./SealedStore.ts";

const integrity = integrityKeyOf(1);
const SIZES = { most: 64, piece: 4, open: 2, changed: 64, slice: 8 };

let tables: MemoryTables;
/** Rows read. */
let read: number;

const open = (): SealedStore => {
  const bytes = new MemoryByteStore({ tables });
  const { get, keys, commit } = bytes;
  const scan: MemoryByteStore["scan"] = (table, after, limit) => {
    const page = bytes.scan(table, after, limit);
    if (table === "keys") read += page.length;
    return page;
  };
  const store = new SealedStore({ ...bytes, get, keys, commit, scan }, crypto, schema, SIZES);
  store.useKey(integrity);
  return store;
};

/** Names in no order. */
const keyOf = (index: number): string => String((index * 7_919) % 10_007).padStart(5, "0");
const insert = (index: number): Write => ({ op: "insert", table: "keys", key: keyOf(index), row: { id: `${index}` } });

/** One row with each transaction. @returns the most rows that one of them has read */
const grow = (store: SealedStore, from: number, to: number): number => {
  let most = 0;
  for (let index = from; index < to; index++) {
    read = 0;
    commitTo(store, insert(index));
    most = Math.max(most, read);
  }
  return most;
};

beforeEach(() => {
  tables = new Map();
  read = 0;
});

describe("a range that grows to more rows than it may have", () => {
  it("is read a piece at a time, so that no transaction waits for all of it", () => {
    const store = open();
    commitTo(store, peerRow(integrity.publicKey));
    // A piece, the row behind it that ends it, and one more of a page.
    expect(grow(store, 0, 700)).toBeLessThanOrEqual(3 * (SIZES.piece + 2));
    expect(open().verifyAll()).toBeUndefined();
  });

  it("is cut by what its rows are then: changed, removed and put in meanwhile, before and behind what was read", () => {
    const store = open();
    commitTo(store, peerRow(integrity.publicKey));
    grow(store, 0, 50);
    for (let index = 0; index < 50; index += 3)
      commitTo(
        store,
        { op: "replace", table: "keys", key: keyOf(index), row: { id: "another" } },
        { op: "remove", table: "keys", key: keyOf(index + 1) },
        insert(100 + index),
        insert(200 + index),
      );
    grow(store, 300, 400);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("is not cut where a row was put back to what it once was before it was read", () => {
    const store = open();
    commitTo(store, peerRow(integrity.publicKey));
    grow(store, 0, 30);
    const older = storedRow(tables, "keys", keyOf(7));
    commitTo(store, { op: "replace", table: "keys", key: keyOf(7), row: { id: "newer" } });
    tables.get("keys")?.set(keyOf(7), older);
    expect(() => grow(store, 30, 90)).toThrow(IntegrityFailure);
  });

  it("is found at the next start where that was done after it was read", () => {
    const store = open();
    commitTo(store, peerRow(integrity.publicKey));
    grow(store, 0, 30);
    const older = storedRow(tables, "keys", keyOf(7));
    commitTo(store, { op: "replace", table: "keys", key: keyOf(7), row: { id: "newer" } });
    grow(store, 30, 90);
    tables.get("keys")?.set(keyOf(7), older);
    expect(open().verifyAll()).toBeDefined();
  });

  it("is cut as well by a transaction that alone has more rows than a range", () => {
    const store = open();
    commitTo(store, peerRow(integrity.publicKey));
    grow(store, 0, 40);
    commitTo(store, ...Array.from({ length: 500 }, (_, index) => insert(1_000 + index)));
    const restarted = open();
    const pages = restarted.verifyPages();
    for (let page = pages.next(); page.done !== true; page = pages.next());
    read = 0;
    restarted.get("keys", keyOf(1));
    expect(read).toBeLessThanOrEqual(SIZES.most + SIZES.slice);
    expect(restarted.verifyAll()).toBeUndefined();
  });
});
