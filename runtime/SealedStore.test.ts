import { beforeEach, describe, expect, it } from "vitest";
import { versionOf } from "../core/codec/CborReader.ts";
import { NEWEST } from "../core/codec/Versioned.ts";
import type { Rows, Write } from "../core/Tables.ts";
import { NEXT_VERSION } from "../properties/modules/notes/Note.ts";
import { compositionWithNotes } from "../properties/modules/notes/WithNotes.ts";
import { crypto } from "../properties/cluster/Cluster.ts";
import { commitTo, integrityKeyOf, openSealed, peerRow, storedRow } from "../properties/store/SealedRows.ts";
import { StoreFailure, type StoredRow } from "./ByteStore.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { IntegrityFailure, UnreadableRow } from "./PeerStore.ts";
import type { IntegrityKey } from "./RowSeal.ts";
import { SealedStore } from "./SealedStore.ts";

const integrity = integrityKeyOf(1);

const owner = (id: string): Rows["keys"] => ({ id });
const insert = (key: string, id: string): Write => ({ op: "insert", table: "keys", key, row: owner(id) });
const replace = (key: string, id: string): Write => ({ op: "replace", table: "keys", key, row: owner(id) });

/** Where each seal holds, and all together are not what the head says. */
const OTHERS = "head/self: rows are missing, too many, or not those that it was signed for";

let tables: MemoryTables;
let store: SealedStore;
/** Rows of the beginning that were replaced and removed since, beside others of their transactions that were not. */
let alice: StoredRow;
let carol: StoredRow;

const open = (key: IntegrityKey | "none" = integrity): SealedStore =>
  openSealed(new MemoryByteStore({ tables }), ...(key === "none" ? [] : [key]));
const commit = (...writes: ReadonlyArray<Write>): void => commitTo(store, ...writes);
const onDisk = (key: string): StoredRow => storedRow(tables, "keys", key);

beforeEach(() => {
  tables = new Map();
  store = open();
  commit(peerRow(integrity.publicKey), insert("a", "alice"));
  alice = onDisk("a");
  commit(insert("b", "bob"), insert("c", "carol"));
  carol = onDisk("c");
  commit(replace("a", "anna"), { op: "remove", table: "keys", key: "c" });
});

describe("sealed rows", () => {
  it("read back as written and add up, also after a restart", () => {
    expect(store.get("keys", "a")).toEqual({ id: "anna" });
    expect(store.get("keys", "c")).toBeUndefined();
    expect(store.scan("keys", "a", 9)).toEqual([{ key: "b", row: { id: "bob" } }]);
    expect(store.verifyAll()).toBeUndefined();
    store = open();
    expect(store.verifyAll()).toBeUndefined();
    commit(replace("b", "bella"), { op: "remove", table: "keys", key: "a" });
    expect(open().verifyAll()).toBeUndefined();
  });

  it("are verified some at a time, to the last one, telling how far that is", () => {
    commit(...Array.from({ length: 2_400 }, (_, index) => insert(`many-${String(index).padStart(4, "0")}`, "someone")));
    const restarted = open();
    // The ranges of the peer's row and of its integrity keys, if there were any, and what lies in them beside that.
    expect([...restarted.verifyPages()].at(-1)).toEqual({ rows: 68, of: 68 });
    expect(restarted.isWhole).toBe(false);
    const progress = [...restarted.verifyRest()];
    expect(progress.at(-1)).toEqual({ rows: 2_406, of: 2_406 });
    expect(restarted.isWhole).toBe(true);
    const steps = progress.map(({ rows }, at) => rows - (progress[at - 1]?.rows ?? 68));
    expect(steps.length).toBeGreaterThan(32);
    for (const step of steps) expect(step).toBeLessThanOrEqual(64);
    const last = onDisk("many-2399");
    tables.get("keys")?.set("many-2399", { ...last, row: Uint8Array.of(...last.row.slice(0, -1), 0) });
    const damaged = open();
    expect([...damaged.verifyPages()].at(-1)).toEqual({ rows: 68, of: 68 });
    expect(open().verifyAll()).toBe("keys/many-2399: the seal does not hold");
    // What does not rest on it is shown, and nothing is written beside it once it is found.
    expect(damaged.get("keys", "many-0000")).toEqual({ id: "someone" });
    expect(() => damaged.get("keys", "many-2398")).toThrow("keys/many-2399: the seal does not hold");
    expect(() => commitTo(damaged, insert("new", "someone"))).toThrow("keys/many-2399: the seal does not hold");
  });

  it("are missed by the read that asks for one that is gone or moved, once they are verified", () => {
    const bob = onDisk("b");
    tables.get("keys")?.delete("b");
    tables.get("keys")?.set("b2", bob);
    // Without the keys nobody knows which rows there should be.
    expect(open("none").get("keys", "b")).toBeUndefined();
    tables.get("keys")?.delete("b2");
    tables.get("keys")?.set("b", bob);
    expect(store.verifyAll()).toBeUndefined();
    commit(insert("d", "dora"), { op: "remove", table: "keys", key: "a" });
    expect(store.get("keys", "a")).toBeUndefined();
    expect(store.get("keys", "nobody")).toBeUndefined();
    for (const key of ["b", "d"]) {
      const moved = onDisk(key);
      tables.get("keys")?.delete(key);
      tables.get("keys")?.set(`${key}2`, moved);
      expect(() => store.get("keys", key)).toThrow(`keys/${key}: the row is missing`);
      expect(() => store.get("keys", `${key}2`)).toThrow("the seal does not hold");
    }
    store.useKey(undefined);
    expect(store.get("keys", "b")).toBeUndefined();
  });

  it("are verified once for the bytes that lie there, and a changed row or seal is found all the same", () => {
    const { recalling } = store;
    const read = recalling.get("keys", "a");
    expect(read).toEqual({ id: "anna" });
    expect(recalling.get("keys", "a")).toBe(read);
    const good = onDisk("a");
    const flipped = (bytes: Uint8Array): Uint8Array =>
      bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte));
    const bad = [{ ...good, row: flipped(good.row) }, { ...good, seal: flipped(good.seal) }, onDisk("b")];
    for (const each of bad) {
      tables.get("keys")?.set("a", each);
      expect(() => recalling.get("keys", "a")).toThrow(IntegrityFailure);
    }
    tables.get("keys")?.set("a", good);
    expect(recalling.get("keys", "a")).toBe(read);
    commit(replace("a", "agnes"));
    expect(recalling.get("keys", "a")).toEqual({ id: "agnes" });
    // An older version of the row, put back: its seal holds, so it is what it always was, until its range is read again.
    tables.get("keys")?.set("a", alice);
    expect(recalling.get("keys", "a")).toEqual({ id: "alice" });
    expect(store.verifyAll()).toBeDefined();
  });

  it("are not taken for what they were once their transaction has none left", () => {
    expect(store.verifyAll()).toBeUndefined();
    const { recalling } = store;
    commit(insert("d", "dora"));
    const old = onDisk("d");
    expect(recalling.get("keys", "d")).toEqual({ id: "dora" });
    commit(replace("d", "diana"));
    commit(replace("b", "bella"));
    tables.get("keys")?.set("d", old);
    for (const view of [store, recalling])
      expect(() => view.get("keys", "d")).toThrow("keys/d: the seal does not hold: there is no seals/");
  });

  it("are verified anew once another key is in use, and missed when they are gone", () => {
    expect(store.verifyAll()).toBeUndefined();
    const { recalling } = store;
    expect(recalling.get("keys", "b")).toEqual({ id: "bob" });
    expect(recalling.get("keys", "nobody")).toBeUndefined();
    const bob = onDisk("b");
    tables.get("keys")?.delete("b");
    expect(() => recalling.get("keys", "b")).toThrow("keys/b: the row is missing");
    tables.get("keys")?.set("b", bob);
    store.useKey(integrityKeyOf(9));
    expect(() => recalling.get("keys", "b")).toThrow("the seal does not hold");
  });

  it("read without the private key, against the key the peer row names", () => {
    expect(open("none").get("keys", "a")).toEqual({ id: "anna" });
    expect(open("none").verifyAll()).toBe("the integrity key is not in memory");
    expect(() => open("none").commit([insert("d", "dora")], () => undefined)).toThrow(StoreFailure);
  });

  it("are refused under another key", () => {
    expect(() => open(integrityKeyOf(9)).get("keys", "a")).toThrow("seals/0000000000000003: the seal does not hold");
    expect(open(integrityKeyOf(9)).verifyAll()).toBeDefined();
  });

  it("are refused after a change of any byte of row or seal", () => {
    const { row, seal } = onDisk("a");
    for (const [part, length] of [
      ["row", row.length],
      ["seal", seal.length],
    ] as const)
      for (let at = 0; at < length; at++) {
        const changed = { row: row.slice(), seal: seal.slice() };
        changed[part][at] = (changed[part][at] ?? 0) ^ 1;
        tables.get("keys")?.set("a", changed);
        expect(() => open().get("keys", "a"), `${part} byte ${at}`).toThrow(IntegrityFailure);
        expect(open().verifyAll(), `${part} byte ${at}`).toMatch(/^keys\/a: /);
      }
  });

  it("are refused after a change of any byte of the seal of their transaction, and without it", () => {
    const key = "0000000000000002";
    const { row, seal } = storedRow(tables, "seals", key);
    for (const [part, length] of [
      ["row", row.length],
      ["seal", seal.length],
    ] as const)
      for (let at = 0; at < length; at += 5) {
        const changed = { row: row.slice(), seal: seal.slice() };
        changed[part][at] = (changed[part][at] ?? 0) ^ 1;
        tables.get("seals")?.set(key, changed);
        expect(open().verifyAll(), `${part} byte ${at}`).toMatch(/^seals\/0000000000000002: /);
        expect(open().get("keys", "a")).toEqual({ id: "anna" });
        // The transaction beside it is looked at by a verification only.
        if (part === "row") expect(() => open().get("keys", "b")).toThrow(`seals/${key}: `);
      }
    tables.get("seals")?.delete(key);
    expect(() => open().get("keys", "b")).toThrow(`keys/b: the seal does not hold: there is no seals/${key}`);
    expect(open().verifyAll()).toContain(`there is no seals/${key}`);
  });

  it("take the seal of their transaction with them when the last of them goes", () => {
    const seals = () => [...(tables.get("seals")?.keys() ?? [])].map(Number);
    // Nothing is left of the third but what replaced a row of the first.
    expect(seals()).toEqual([1, 2, 3]);
    expect(store.verifyAll()).toBeUndefined();
    commit(replace("b", "bella"));
    expect(seals()).toEqual([1, 3, 4]);
    commit({ op: "remove", table: "keys", key: "a" });
    expect(seals()).toEqual([1, 4, 5]);
    commit(insert("d", "dora"));
    // The fifth has only removed; its seal proved the head.
    expect(seals()).toEqual([1, 4, 6]);
    store = open();
    expect(store.verifyAll()).toBeUndefined();
    commit(replace("d", "dolly"));
    expect(seals()).toEqual([1, 4, 7]);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("are read while the transaction that takes their seal away becomes durable", () => {
    /** A reader of these rows: after its first look at the disk something is committed. */
    const meanwhile = (...writes: ReadonlyArray<Write>): SealedStore => {
      const bytes = new MemoryByteStore({ tables });
      expect(store.verifyAll()).toBeUndefined();
      let isDue = true;
      const once = <A>(read: A): A => {
        if (isDue) commit(...writes);
        isDue = false;
        return read;
      };
      return openSealed({
        commit: bytes.commit,
        keys: bytes.keys,
        get: (table, key) => once(bytes.get(table, key)),
        scan: (table, after, limit) => once(bytes.scan(table, after, limit)),
      });
    };
    expect(meanwhile(replace("b", "bella")).get("keys", "b")).toEqual({ id: "bella" });
    expect(meanwhile(replace("b", "bob")).recalling.get("keys", "b")).toEqual({ id: "bob" });
    expect(meanwhile(replace("b", "bea")).scan("keys", "a", 9)).toEqual([{ key: "b", row: { id: "bea" } }]);
    expect(meanwhile({ op: "remove", table: "keys", key: "b" }).scan("keys", "a", 9)).toEqual([]);
    expect(meanwhile({ op: "remove", table: "keys", key: "a" }).get("keys", "a")).toBeUndefined();
  });

  it("are found at the start when the seal of a transaction that is gone comes back", () => {
    const old = storedRow(tables, "seals", "0000000000000002");
    store.verifyAll();
    commit(replace("b", "bella"));
    tables.get("seals")?.set("0000000000000002", old);
    expect(open().verifyAll()).toBe(OTHERS);
  });

  it("are refused under another row's key and in another table", () => {
    tables.get("keys")?.set("z", onDisk("b"));
    tables.set("refusals", new Map([["b", onDisk("b")]]));
    expect(() => store.get("keys", "z")).toThrow(IntegrityFailure);
    expect(() => store.get("refusals", "b")).toThrow(IntegrityFailure);
  });

  it("are missed at the start when deleted", () => {
    tables.get("keys")?.delete("b");
    expect(open().verifyAll()).toBe(OTHERS);
  });

  it("are found at the start when an older version comes back", () => {
    tables.get("keys")?.set("a", alice);
    expect(open("none").get("keys", "a")).toEqual({ id: "alice" });
    expect(open().verifyAll()).toBe(OTHERS);
  });

  it("are found at the start when a removed one comes back in place of another", () => {
    commit(insert("d", "dora"));
    tables.get("keys")?.delete("d");
    tables.get("keys")?.set("c", carol);
    expect(open().verifyAll()).toBe(OTHERS);
  });

  it("are found at the start when the head is missing or older than they are", () => {
    const head = tables.get("head")?.get("self");
    commit(insert("d", "dora"));
    if (head !== undefined) tables.get("head")?.set("self", head);
    expect(open().verifyAll()).toBe(OTHERS);
    tables.get("head")?.clear();
    expect(open().verifyAll()).toBe("ranges: they are not those that the head was signed for");
  });

  it("are held against the head that this process wrote last, where it has written one", () => {
    const rows = new Map(tables.get("keys"));
    const seals = new Map(tables.get("seals"));
    const ranges = new Map(tables.get("ranges"));
    const head = storedRow(tables, "head", "self");
    commit(insert("d", "dora"));
    tables.get("head")?.set("self", head);
    tables.set("keys", rows);
    tables.set("seals", seals);
    tables.set("ranges", ranges);
    expect(store.verifyAll()).toBe("head/self: it is not the one that was written last");
    expect(open().verifyAll()).toBeUndefined();
  });

  it("keep their head when a commit fails", () => {
    const failing = new MemoryByteStore({ tables });
    const broken = new SealedStore(
      {
        get: failing.get.bind(failing),
        scan: failing.scan.bind(failing),
        keys: failing.keys.bind(failing),
        commit: (_changes, done) => done(new StoreFailure("no")),
      },
      crypto,
    );
    broken.useKey(integrity);
    let failed = false;
    broken.commit([insert("d", "dora")], (failure) => {
      failed = failure !== undefined;
    });
    expect(failed).toBe(true);
    expect(broken.verifyAll()).toBeUndefined();
  });

  it("refuse to change a row that is not there", () => {
    expect(() => store.commit([replace("nobody", "x")], () => undefined)).toThrow(
      "keys/nobody: the row to change is missing",
    );
  });
});

describe("rows of another version", () => {
  const next = compositionWithNotes({ lowest: NEWEST, highest: NEXT_VERSION }).tables;
  const openNext = (): SealedStore => {
    const opened = new SealedStore(new MemoryByteStore({ tables }), crypto, next);
    opened.useKey(integrity);
    return opened;
  };

  it("are read as they were meant where they are older, and become newer as they are written", () => {
    store = openNext();
    expect(store.verifyAll()).toBeUndefined();
    expect(store.get("keys", "a")).toEqual({ id: "anna", remark: undefined });
    commit(replace("b", "bella"));
    expect(["a", "b"].map((key) => versionOf(onDisk(key).row))).toEqual([NEWEST, NEXT_VERSION]);
    expect(openNext().verifyAll()).toBeUndefined();
    expect(openNext().scan("keys", "", 9)).toEqual([
      { key: "a", row: { id: "anna", remark: undefined } },
      { key: "b", row: { id: "bella", remark: undefined } },
    ]);
  });

  it("are not taken for tampered where they are newer", () => {
    store = openNext();
    commit(replace("b", "bella"));
    const why = `version ${NEXT_VERSION}, where ${NEWEST} is the newest known`;
    for (const key of [integrity, "none"] as const) {
      expect(() => open(key).get("keys", "b")).toThrow(new UnreadableRow("seals/0000000000000004", why).message);
      expect(open(key).get("keys", "a")).toEqual({ id: "anna" });
    }
    expect(() => open().verifyAll()).toThrow(UnreadableRow);
    // A row that only claims to be newer is tampered with, unless it is read before anything can be verified.
    const { row, seal } = onDisk("a");
    tables.get("keys")?.set("a", { row: Uint8Array.of(0x82, NEXT_VERSION, ...row.slice(2)), seal });
    expect(() => open().get("keys", "a")).toThrow("keys/a: the seal does not hold");
    tables.get("keys")?.set("a", { row, seal: Uint8Array.of(0x82, 4, ...seal.slice(2)) });
    expect(() => open().get("keys", "a")).toThrow("keys/a: the seal cannot be read");
    const head = storedRow(tables, "head", "self");
    tables.get("head")?.set("self", { row: head.row, seal: Uint8Array.of(0x82, 4, ...head.seal.slice(2)) });
    expect(() => open().get("keys", "a")).toThrow("version 4, where 3 is the newest known");
  });

  it("are not taken for tampered either where they name the key that all others are verified with", () => {
    const peer = storedRow(tables, "peer", "self");
    const put = (row: Uint8Array) => tables.get("peer")?.set("self", { row, seal: peer.seal });
    put(Uint8Array.of(0x82, NEXT_VERSION, ...peer.row.slice(2)));
    // A later program would have written the head as well: one changed byte is damage.
    expect(() => open("none").get("keys", "a")).toThrow(IntegrityFailure);
    const head = storedRow(tables, "head", "self");
    tables.get("head")?.set("self", { ...head, row: Uint8Array.of(0x82, NEXT_VERSION, ...head.row.slice(2)) });
    expect(() => open("none").get("keys", "a")).toThrow(UnreadableRow);
    put(Uint8Array.of(0x83, ...peer.row.slice(1)));
    expect(() => open("none").get("keys", "a")).toThrow(IntegrityFailure);
    tables.get("peer")?.clear();
    expect(() => open("none").get("keys", "a")).toThrow("the row that names the integrity key is missing");
  });
});
