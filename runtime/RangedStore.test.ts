/** A store of many small ranges, and what somebody does to its rows while no process looks. */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Rows, TableName, Write } from "../core/Tables.ts";
import { crypto } from "../properties/cluster/Cluster.ts";
import { commitTo, integrityKeyOf, peerRow, storedRow } from "../properties/store/SealedRows.ts";
import type { ByteStore, StoredRow } from "./ByteStore.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { ended } from "./RangeProof.ts";
import { SealedStore } from "./SealedStore.ts";
import { tables as schema } from "../core/Tables.ts";

const integrity = integrityKeyOf(1);
const SIZES = { most: 4, piece: 2, open: 2, changed: 8, slice: 1 };

let tables: MemoryTables;

const openOver = (bytes: ByteStore, sizes = SIZES): SealedStore => {
  const opened = new SealedStore(bytes, crypto, schema, sizes);
  opened.useKey(integrity);
  return opened;
};
const open = (sizes = SIZES): SealedStore => openOver(new MemoryByteStore({ tables }), sizes);

/** As at an unseal: what holds before the first vote. */
const proveHead = (store: SealedStore): string | undefined => {
  const pages = store.verifyPages();
  let page = pages.next();
  while (page.done !== true) page = pages.next();
  return page.value;
};
const restarted = (): SealedStore => {
  const store = open();
  const why = proveHead(store);
  if (why !== undefined) throw new IntegrityFailure("at the start", why);
  return store;
};

const owner = (id: string): Rows["keys"] => ({ id });
const put = (op: "insert" | "replace", table: "keys" | "credentials", key: string, id: string): Write =>
  table === "keys" ? { op, table, key, row: owner(id) } : { op, table, key, row: { ref: id } };

/** A store of these keys, each put into two tables, in several transactions. */
const fill = (store: SealedStore, keys: ReadonlyArray<string>): void => {
  commitTo(store, peerRow(integrity.publicKey));
  for (let from = 0; from < keys.length; from += 3)
    commitTo(
      store,
      ...keys
        .slice(from, from + 3)
        .flatMap((key) => [put("insert", "keys", key, `of ${key}`), put("insert", "credentials", key, `of ${key}`)]),
    );
};
const KEYS = Array.from({ length: 40 }, (_, index) => String((index * 37) % 100).padStart(3, "0"));

const set = (table: TableName, key: string, row: StoredRow | undefined): void => {
  if (row === undefined) tables.get(table)?.delete(key);
  else tables.get(table)?.set(key, row);
};
const flipped = ({ row, seal }: StoredRow): StoredRow => ({
  row: row.map((byte, at) => (at === row.length - 1 ? byte ^ 1 : byte)),
  seal,
});

beforeEach(() => {
  tables = new Map();
});

describe("ranges of rows", () => {
  it("let a store vote that has read next to nothing, and go on with it", () => {
    fill(open(), KEYS);
    const store = open();
    const read: Array<string> = [];
    const bytes = new MemoryByteStore({ tables });
    const watched = openOver({
      ...bytes,
      get: bytes.get,
      keys: bytes.keys,
      commit: bytes.commit,
      scan: (table, after, limit) => {
        const page = bytes.scan(table, after, limit);
        for (const { key } of page) if (table === "keys" || table === "credentials") read.push(`${table}/${key}`);
        return page;
      },
    });
    expect(proveHead(watched)).toBeUndefined();
    expect(read.length).toBeLessThan(16);
    expect(watched.get("keys", "037")).toEqual({ id: "of 037" });
    expect(watched.get("keys", "0375")).toBeUndefined();
    expect(read.length).toBeLessThan(24);
    expect(watched.isWhole).toBe(false);
    expect(store.verifyAll()).toBeUndefined();
    expect(store.isWhole).toBe(true);
  });

  it("prove each row that is read, each absence and each page, by whatever was done to it", () => {
    const store = open();
    fill(store, KEYS);
    const older = storedRow(tables, "keys", "037");
    commitTo(store, put("replace", "keys", "037", "somebody else"), put("replace", "keys", "000", "another"));
    const newer = storedRow(tables, "keys", "037");
    const gone = storedRow(tables, "keys", "074");
    commitTo(store, { op: "remove", table: "keys", key: "074" });
    const asks: ReadonlyArray<(asked: SealedStore) => unknown> = [
      (asked) => asked.get("keys", "037"),
      (asked) => asked.get("keys", "074"),
      (asked) => asked.get("keys", "0370"),
      (asked) => asked.scan("keys", "030", 20),
      (asked) => asked.scan("keys", "", 99),
      (asked) => asked.keys("keys", "030", 20),
      (asked) => asked.keys("keys", "", 99),
      (asked) => asked.recalling.get("keys", "037"),
      (asked) => asked.recalling.keys("keys", "030", 20),
      (asked) => commitTo(asked, put("replace", "keys", "037", "x")),
    ];
    const tampered: ReadonlyArray<readonly [string, () => void, ReadonlyArray<number>]> = [
      ["changed", () => set("keys", "037", flipped(newer)), [0, 3, 4, 7]],
      ["deleted", () => set("keys", "037", undefined), [0, 3, 4, 5, 6, 7, 8, 9]],
      ["put back from an older time", () => set("keys", "037", older), [0, 3, 4, 5, 6, 7, 8, 9]],
      ["brought back", () => set("keys", "074", gone), [1, 3, 4, 5, 6, 8]],
      [
        "moved",
        () => {
          set("keys", "037", undefined);
          set("keys", "0370", newer);
        },
        [0, 2, 3, 4, 5, 6, 7, 8, 9],
      ],
    ];
    for (const [what, tamper, noticing] of tampered) {
      const before = new Map([...tables].map(([table, rows]) => [table, new Map(rows)] as const));
      tamper();
      for (const at of noticing) expect(() => asks[at]?.(restarted()), `${what}, ask ${at}`).toThrow(IntegrityFailure);
      const unaware = restarted();
      expect(unaware.get("keys", "000")).toEqual({ id: "another" });
      expect(unaware.verifyAll(), what).toBeDefined();
      expect(open().verifyAll(), what).toBeDefined();
      tables = before;
      expect(open().verifyAll()).toBeUndefined();
    }
  });

  it("show no reader an absence that they do not prove, however often one asks, but what is left to whoever knows", () => {
    fill(open(), KEYS);
    set("keys", "037", undefined);
    const store = restarted();
    for (const view of [store.recalling, store.recalling, store])
      for (const ask of [
        () => view.get("keys", "037"),
        () => view.keys("keys", "", 99),
        () => view.scan("keys", "", 99),
      ])
        expect(ask).toThrow(IntegrityFailure);
    expect(store.remaining.get("keys", "036")).toEqual({ id: "of 036" });
    expect(store.remaining.get("keys", "000")).toEqual({ id: "of 000" });
    expect(store.remaining.keys("keys", "", 99)).toHaveLength(KEYS.length - 1);
  });

  it("are themselves found to be changed, deleted or older, before anything is read", () => {
    const store = open();
    fill(store, KEYS);
    const older = new Map(tables.get("ranges"));
    commitTo(store, put("replace", "keys", "037", "somebody else"));
    const good = new Map(tables.get("ranges"));
    expect(proveHead(open())).toBeUndefined();
    for (const [key, row] of good) {
      for (const bad of [undefined, flipped(row), { ...row, seal: Uint8Array.of(1) }]) {
        tables.set("ranges", new Map(good));
        set("ranges", key, bad);
        const why = proveHead(open());
        expect(why).toBeDefined();
        expect(() => commitTo(open(), put("insert", "keys", "new", "x"))).toThrow(IntegrityFailure);
        tables.set("ranges", new Map(good));
      }
    }
    tables.set("ranges", older);
    expect(proveHead(open())).toBe("ranges: they are not those that the head was signed for");
  });

  it("that somebody has damaged take no numbers from their rows", () => {
    fill(open(), KEYS);
    // The largest transaction there could be: memory for so many is not to be had.
    const seal = Uint8Array.of(0x82, 2, 0xa1, 0, 0x1b, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
    set("keys", "037", { ...storedRow(tables, "keys", "037"), seal });
    expect(open().verifyAll()).toMatch(/^keys\/037: /);
    set("seals", "9007199254740991", { ...storedRow(tables, "seals", "0000000000000002"), seal });
    expect(open().verifyAll()).toBeDefined();
  });

  it("are not taken for damaged by who reads while a transaction becomes durable", () => {
    let flush: () => void = () => undefined;
    fill(open(), KEYS);
    const bytes = new MemoryByteStore({ tables, schedule: (run) => (flush = run) });
    for (const isVisible of [false, true]) {
      const store = openOver(bytes);
      expect(proveHead(store)).toBeUndefined();
      let failed = true;
      store.commit(
        [
          put("replace", "keys", "037", "x"),
          { op: "remove", table: "keys", key: isVisible ? "000" : "074" },
          put("insert", "keys", isVisible ? "0371" : "0741", "y"),
        ],
        (failure) => {
          failed = failure !== undefined;
        },
      );
      // A store over the same rows sees the transaction before its end is told, as a reader of the database does.
      if (isVisible) {
        const reader = openOver(bytes);
        flush();
        expect(reader.verifyAll()).toBeUndefined();
      } else {
        for (const { key } of bytes.scan("keys", "", 99)) expect(store.get("keys", key)).toBeDefined();
        flush();
      }
      expect(failed).toBe(false);
      expect(store.verifyAll()).toBeUndefined();
    }
  });

  it("give their seals back that no row needs, also of rows that went before that was known", () => {
    fill(open(), KEYS);
    const store = restarted();
    const before = tables.get("seals")?.size ?? 0;
    // The second transaction's rows.
    for (const key of KEYS.slice(0, 3))
      for (const table of ["keys", "credentials"] as const) commitTo(store, { op: "remove", table, key });
    expect(tables.get("seals")?.has("0000000000000002")).toBe(true);
    expect(store.verifyAll()).toBeUndefined();
    for (const id of ["x", "y"]) commitTo(store, put("replace", "keys", KEYS[5] ?? "", id));
    expect(tables.get("seals")?.has("0000000000000002")).toBe(false);
    expect(tables.get("seals")?.size).toBeLessThan(before + 2);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("give back a seal whose last row goes while the other rows are looked at", () => {
    fill(open(), KEYS);
    let flush: () => void = () => undefined;
    const store = openOver(new MemoryByteStore({ tables, schedule: (run) => (flush = run) }));
    expect(proveHead(store)).toBeUndefined();
    const commit = (...writes: ReadonlyArray<Write>): void => store.commit(writes, () => undefined);
    commit(
      ...KEYS.slice(0, 3).flatMap((key) =>
        (["keys", "credentials"] as const).map((table): Write => ({ op: "remove", table, key })),
      ),
    );
    expect(ended(store.verifyRest())).toBeUndefined();
    flush();
    expect(tables.get("seals")?.has("0000000000000002")).toBe(true);
    commit(put("replace", "keys", KEYS[5] ?? "", "x"));
    flush();
    expect(tables.get("seals")?.has("0000000000000002")).toBe(false);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("give back the seal of a transaction that only removed, with the next under way at the last look", () => {
    fill(open(), KEYS);
    let flush: () => void = () => undefined;
    const store = openOver(new MemoryByteStore({ tables, schedule: (run) => (flush = run) }));
    expect(proveHead(store)).toBeUndefined();
    const commit = (...writes: ReadonlyArray<Write>): void => store.commit(writes, () => undefined);
    commit({ op: "remove", table: "keys", key: KEYS[0] ?? "" });
    flush();
    const seal = [...(tables.get("seals")?.keys() ?? [])].toSorted().at(-1) ?? "";
    commit(put("replace", "keys", KEYS[5] ?? "", "x"));
    expect(ended(store.verifyRest())).toBeUndefined();
    flush();
    expect(tables.get("seals")?.has(seal)).toBe(true);
    commit(put("replace", "keys", KEYS[5] ?? "", "y"));
    flush();
    expect(tables.get("seals")?.has(seal)).toBe(false);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("of other sizes are gone on with", () => {
    fill(open(), KEYS);
    for (const sizes of [
      { most: 128, piece: 8, open: 20, changed: 1_000, slice: 256 },
      { most: 1, piece: 1, open: 0, changed: 1, slice: 1 },
      SIZES,
    ]) {
      const store = open(sizes);
      expect(proveHead(store)).toBeUndefined();
      commitTo(store, put("replace", "keys", "037", String(sizes.most)), put("insert", "keys", `n${sizes.most}`, "n"));
      expect(open().verifyAll()).toBeUndefined();
    }
  });

  it("hold after any changes in any order, and miss whatever is tampered with", () => {
    const key = fc.integer({ min: 0, max: 60 }).map((index) => String(index).padStart(2, "0"));
    const step = fc.record({
      changes: fc.array(fc.record({ table: fc.constantFrom("keys", "credentials"), key, isGone: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
      isRestarted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), fc.nat(), fc.nat(3), (steps, hit, how) => {
        tables = new Map();
        let store = open();
        commitTo(store, peerRow(integrity.publicKey));
        const model = new Map<string, string>();
        const removed: Array<readonly [TableName, string, StoredRow]> = [];
        for (const [at, { changes, isRestarted }] of steps.entries()) {
          if (isRestarted) store = restarted();
          const writes = new Map<string, Write>();
          for (const each of changes) {
            const table = each.table as "keys" | "credentials";
            const name = `${table}/${each.key}`;
            if (writes.has(name)) continue;
            const isThere = model.has(name);
            if (each.isGone && !isThere) continue;
            if (isThere) removed.push([table, each.key, storedRow(tables, table, each.key)]);
            if (each.isGone) model.delete(name);
            else model.set(name, `at ${at}`);
            writes.set(
              name,
              each.isGone
                ? { op: "remove", table, key: each.key }
                : put(isThere ? "replace" : "insert", table, each.key, `at ${at}`),
            );
          }
          if (writes.size > 0) commitTo(store, ...writes.values());
        }
        const whole = restarted();
        for (const table of ["keys", "credentials"] as const) {
          const expected = [...model]
            .filter(([name]) => name.startsWith(`${table}/`))
            .map(([name, id]) => ({ key: name.slice(table.length + 1), id }))
            .toSorted((left, right) => (left.key < right.key ? -1 : 1));
          const found = whole.scan(table, "", 200).map(({ key: at, row }) => ({ key: at, id: Object.values(row)[0] }));
          expect(found).toEqual(expected);
        }
        expect(open().verifyAll()).toBeUndefined();
        const names = [...model.keys()];
        const [table, at] = (names[hit % Math.max(1, names.length)] ?? "").split("/") as ["keys", string];
        const [back, backAt, old] = removed[hit % Math.max(1, removed.length)] ?? [];
        if (how > 0 && back !== undefined && old !== undefined && backAt !== undefined) {
          set(back, backAt, old);
          expect(() => restarted().get(back as "keys", backAt)).toThrow(IntegrityFailure);
        } else if (at !== undefined) {
          set(table, at, how === 0 ? undefined : flipped(storedRow(tables, table, at)));
          expect(() => restarted().get(table, at)).toThrow(IntegrityFailure);
        } else return;
        expect(open().verifyAll()).toBeDefined();
      }),
      { numRuns: 60 },
    );
  });
});
