import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, describe, expect, it } from "vitest";
import type { PublicKey } from "../core/Digest.ts";
import { numberKey, type Rows, type Write } from "../core/Tables.ts";
import { crypto } from "../properties/cluster/Cluster.ts";
import type { StoredRow } from "./ByteStore.ts";
import { signerOf } from "./CryptoPrimitives.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { nobleSigning } from "./NobleCrypto.ts";
import type { IntegrityKey } from "./RowSeal.ts";
import { SealedStore } from "./SealedStore.ts";

const keyOf = (fill: number): IntegrityKey => {
  const seed = new Uint8Array(32).fill(fill);
  const publicKey = bytesToHex(nobleSigning.publicKeyOf(seed)) as PublicKey;
  return { ...signerOf(publicKey, (message) => nobleSigning.sign(seed, message)), setKey: seed };
};
const [first, second, third] = [keyOf(1), keyOf(2), keyOf(3)];

const peer: Rows["peer"] = {
  peerId: 1,
  threshold: 1,
  total: 1,
  identityKey: keyOf(9).publicKey,
  integrityKey: first.publicKey,
  nonce: crypto.digest("T", { write: (_value, sink) => sink.uint(0), read: () => 0 }, 0),
  unsealedOnce: false,
};
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

const open = (...keys: ReadonlyArray<IntegrityKey>): SealedStore => {
  const opened = new SealedStore(new MemoryByteStore({ tables }), crypto);
  const [own, ...later] = keys;
  opened.useKey(own);
  for (const each of later) opened.addKey(each);
  return opened;
};
const commitTo = (into: SealedStore, ...writes: ReadonlyArray<Write>): void =>
  into.commit(writes, (failure) => {
    if (failure !== undefined) throw failure;
  });
const onDisk = (table: "keys" | "integrity", key: string): StoredRow => {
  const row = tables.get(table)?.get(key);
  if (row === undefined) throw new Error("the test expects the row to be there");
  return row;
};

beforeEach(() => {
  tables = new Map();
  store = open(first, second, third);
  commitTo(store, { op: "insert", table: "peer", key: "self", row: peer }, insert("a"), insert("b"));
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

  it("lets no older key seal anything of a later time", () => {
    // Another history of the same length, in which the first key never gave way.
    const later = tables;
    tables = new Map();
    const stale = open(first);
    commitTo(stale, { op: "insert", table: "peer", key: "self", row: peer });
    for (const key of ["x", "y", "z"]) commitTo(stale, insert(key));
    const forged = onDisk("keys", "z");
    tables = later;
    tables.get("keys")?.set("z", forged);
    expect(() => open(first, second, third).get("keys", "z")).toThrow("an integrity key of another time");
  });
});
