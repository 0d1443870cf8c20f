import { describe, expect, it } from "vitest";
import { type Change, StoreFailure } from "./ByteStore.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";

const insert = (key: string): Change => ({
  op: "insert",
  table: "keys",
  key,
  value: { row: new Uint8Array([1]), seal: new Uint8Array([2]) },
});

describe("MemoryByteStore", () => {
  it("finishes a commit before it returns when nothing schedules it", () => {
    const store = new MemoryByteStore();
    const outcomes: Array<StoreFailure | undefined> = [];
    store.commit([insert("a")], (failure) => outcomes.push(failure));
    store.commit([insert("a")], (failure) => outcomes.push(failure));
    expect(outcomes).toEqual([undefined, expect.any(StoreFailure)]);
  });

  it("calls done only from the scheduled flush", () => {
    const flushes: Array<() => void> = [];
    const store = new MemoryByteStore({ schedule: (flush) => void flushes.push(flush) });
    const outcomes: Array<StoreFailure | undefined> = [];
    store.commit([insert("a")], (failure) => outcomes.push(failure));
    expect(outcomes).toEqual([]);
    expect(store.get("keys", "a")).toBeUndefined();
    flushes[0]?.();
    expect(outcomes).toEqual([undefined]);
    expect(store.get("keys", "a")?.row).toEqual(new Uint8Array([1]));
  });

  it("leaves its rows to the next store on the same tables", () => {
    const tables: MemoryTables = new Map();
    new MemoryByteStore({ tables }).commit([insert("a")], () => {});
    expect(new MemoryByteStore({ tables }).scan("keys", "", 2).map(({ key }) => key)).toEqual(["a"]);
  });
});
