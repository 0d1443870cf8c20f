/** Stores of which an older program sealed some rows, each with a proof of its own beside it. */
import { beforeEach, describe, expect, it } from "vitest";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import { digest, list, record, signature, uint } from "../core/codec/Codec.ts";
import { writtenIn } from "../core/codec/Versioned.ts";
import type { Digest } from "../core/base/Digest.ts";
import { merkleTree } from "../core/protocol/Merkle.ts";
import { numberKey, SELF } from "../core/protocol/Tables.ts";
import { tables as schema, type TableName, type Write } from "../core/Tables.ts";
import { crypto } from "../properties/cluster/Cluster.ts";
import { commitTo, integrityKeyOf, openSealed, peerRow, storedRow } from "../properties/store/SealedRows.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { elementOf, leafOf, maskOf, type PlainRow, SEAL_VERSION, sealCodec } from "./RowSeal.ts";
import type { SealedStore } from "./SealedStore.ts";

const integrity = integrityKeyOf(1);
const signed = writtenIn(1, record({ transaction: uint, size: uint, root: digest }));
const first = writtenIn(
  1,
  record({
    keyVersion: uint,
    transaction: uint,
    index: uint,
    size: uint,
    proof: list(digest, 16),
    root: digest,
    signature,
  }),
);

let tables: MemoryTables;

const open = (): SealedStore => openSealed(new MemoryByteStore({ tables }), integrity);
const plain = (write: Write): PlainRow => {
  if (write.op === "remove") throw new Error("the test expects a row");
  return { table: write.table, key: write.key, row: encode(schema.codecOf(write.table), write.row) };
};
const put = (table: TableName, key: string, stored: { row: Uint8Array; seal: Uint8Array }): void => {
  tables.set(table, new Map([...(tables.get(table) ?? []), [key, stored]]));
};
const owned = (op: "insert" | "replace", key: string, id: string): Write => ({ op, table: "keys", key, row: { id } });
/** What lies beside a row of version 2. */
const beside = (transaction: number): Uint8Array =>
  encode(sealCodec, { transaction, own: undefined, chain: undefined });

/** Stores rows as the program of version 1 did in its first transaction. */
const writeFirst = (...writes: ReadonlyArray<Write>): void => {
  const rows = writes.map(plain);
  const leaves = rows.map((row) => leafOf(crypto, 1, row));
  const sum = leaves.reduce((all, leaf) => all + elementOf(crypto, integrity, leaf), maskOf(crypto, integrity, 1));
  const masked = (sum % (1n << 256n)).toString(16).padStart(64, "0") as Digest;
  const head: PlainRow = {
    table: "head",
    key: SELF,
    row: encode(schema.codecOf("head"), { transactions: 1, rows: rows.length, digest: masked }),
  };
  const { root, proofs } = merkleTree(crypto, [...leaves, leafOf(crypto, 1, head)]);
  const size = rows.length + 1;
  const signature = integrity.sign("CUSTODY_ROW_SEAL_V1", signed, { transaction: 1, size, root });
  for (const [index, { table, key, row }] of [...rows, head].entries()) {
    const proof = proofs[index] ?? [];
    put(table, key, {
      row,
      seal: encode(first, { keyVersion: 1, transaction: 1, index, size, proof, root, signature }),
    });
  }
};

beforeEach(() => {
  tables = new Map();
  writeFirst(peerRow(integrity.publicKey), owned("insert", "a", "alice"), owned("insert", "b", "bob"));
});

describe("rows that carry their own proof", () => {
  it("are read, verified and replaced beside those of version 2", () => {
    const store = open();
    expect(store.verifyAll()).toBeUndefined();
    commitTo(store, owned("replace", "a", "anna"));
    commitTo(store, owned("replace", "a", "agnes"), { op: "remove", table: "keys", key: "b" });
    expect(open().verifyAll()).toBeUndefined();
    expect(open().get("keys", "a")).toEqual({ id: "agnes" });
    expect([...(tables.get("seals")?.keys() ?? [])]).toEqual([numberKey(3)]);
  });

  it("are found at the start when the proof is gone, and a later transaction's seal is claimed in its place", () => {
    const good = storedRow(tables, "keys", "b");
    put("keys", "b", { row: good.row, seal: beside(1) });
    expect(open().verifyAll()).toBe(`keys/b: the seal does not hold: there is no seals/${numberKey(1)}`);
    put("keys", "b", good);
    commitTo(open(), owned("replace", "a", "anna"));
    put("keys", "b", { row: good.row, seal: beside(1) });
    expect(open().verifyAll()).toBe(`seals/${numberKey(1)}: it is missing, and rows need it`);
  });

  it("are found without their proof by a store that reads all rows at its start, since all ranges are open", () => {
    const good = storedRow(tables, "keys", "b");
    const store = open();
    for (const id of ["anna", "agnes"]) commitTo(store, owned("replace", "a", id));
    expect(open().verifyAll()).toBeUndefined();
    put("keys", "b", { row: good.row, seal: beside(1) });
    const pages = open().verifyPages();
    let page = pages.next();
    while (page.done !== true) page = pages.next();
    expect(page.value).toBe(`seals/${numberKey(1)}: it is missing, and rows need it`);
  });

  it("are not beside rows of ranges, which nobody had written then", () => {
    put("ranges", `b${numberKey(9)}`, { row: Uint8Array.of(0x80), seal: new Uint8Array(0) });
    expect(open().verifyAll()).toMatch(/^ranges/);
    const row = encode(schema.codecOf("ranges"), { ranges: [] });
    put("ranges", `b${numberKey(9)}`, { row, seal: new Uint8Array(0) });
    expect(open().verifyAll()).toBe("ranges: they are not those that the head was signed for");
    expect(() => commitTo(open(), owned("replace", "a", "anna"))).toThrow("ranges: they are not those");
  });

  it("lend their form to no seal of a transaction", () => {
    const proof = decode(sealCodec, storedRow(tables, "keys", "b").seal, SEAL_VERSION);
    expect(proof).toHaveProperty("right.own.transaction", 1);
    commitTo(open(), owned("replace", "a", "anna"));
    const { row } = storedRow(tables, "seals", numberKey(2));
    const peer = decode(first, storedRow(tables, "peer", SELF).seal, 1);
    if (peer._tag === "Left") throw new Error(peer.left);
    put("seals", numberKey(2), { row, seal: encode(first, { ...peer.right, transaction: 2 }) });
    expect(open().verifyAll()).toBe(`seals/${numberKey(2)}: the seal does not hold`);
  });
});
