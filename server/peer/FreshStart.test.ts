import { describe, expect, it } from "vitest";
import { type Change, StoreFailure } from "../../runtime/ByteStore.ts";
import { MemoryByteStore } from "../../runtime/MemoryByteStore.ts";
import { FreshStart } from "./FreshStart.ts";

const value = (byte: number) => ({ row: Uint8Array.of(byte), seal: Uint8Array.of(byte) });
const put = (op: "insert" | "replace", table: "peer" | "vault" | "counters" | "head", byte: number): Change => ({
  op,
  table,
  key: "self",
  value: value(byte),
});

describe("a store that starts afresh", () => {
  it("hides what is there, replaces it as a whole, and is an ordinary store from then on", () => {
    const inner = new MemoryByteStore();
    inner.commit([put("insert", "peer", 1), put("insert", "vault", 1), put("insert", "head", 1)], () => undefined);
    const fresh = new FreshStart(inner);
    expect(fresh.get("peer", "self")).toBeUndefined();
    expect(fresh.scan("peer", "", 10)).toEqual([]);
    let outcomes = 0;
    const done = (failure?: StoreFailure): void => {
      expect(failure).toBeUndefined();
      outcomes += 1;
    };
    fresh.commit([put("insert", "peer", 2), put("insert", "counters", 2), put("insert", "head", 2)], done);
    expect(inner.get("peer", "self")).toEqual(value(2));
    expect(inner.get("counters", "self")).toEqual(value(2));
    expect(inner.get("vault", "self")).toBeUndefined();
    expect(fresh.get("peer", "self")).toEqual(value(2));
    fresh.commit([put("replace", "peer", 3)], done);
    expect(fresh.scan("peer", "", 10)).toEqual([{ key: "self", value: value(3) }]);
    expect(outcomes).toBe(2);
  });
});
