/** What happens to ranges of rows in the middle of something else: seals, cuts, crashes, and rows of another time. */
import { Either } from "effect";
import { beforeEach, describe, expect, it } from "vitest";
import { crypto } from "../properties/cluster/Cluster.ts";
import { commitTo, integrityKeyOf, peerRow } from "../properties/store/SealedRows.ts";
import { NAME_CHARACTERS, RANGES_IN_ROW } from "../core/protocol/Tables.ts";
import { sameBytes } from "../core/codec/Bytes.ts";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import { rowCodec, type Rows, tables as schema, type TableName, type Write } from "../core/Tables.ts";
import type { ByteStore, Change, StoredRow } from "./ByteStore.ts";
import { MemoryByteStore, type MemoryTables } from "./MemoryByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { OPEN } from "./Ranges.ts";
import { SealedStore } from "./SealedStore.ts";

const integrity = integrityKeyOf(1);
const SIZES = { most: 4, piece: 2, open: 2, changed: 8, slice: 1 };

let tables: MemoryTables;

const openOver = (bytes: ByteStore): SealedStore => {
  const opened = new SealedStore(bytes, crypto, schema, SIZES);
  opened.useKey(integrity);
  return opened;
};
const open = (): SealedStore => openOver(new MemoryByteStore({ tables }));

const ended = (pages: Generator<unknown, string | undefined>): string | undefined => {
  let page = pages.next();
  while (page.done !== true) page = pages.next();
  return page.value;
};
const unsealed = (store = open()): SealedStore => {
  const why = ended(store.verifyPages());
  if (why !== undefined) throw new IntegrityFailure("at the start", why);
  return store;
};

const insert = (key: string, id = `of ${key}`): Write => ({ op: "insert", table: "keys", key, row: { id } });
const replace = (key: string, id: string): Write => ({ op: "replace", table: "keys", key, row: { id } });
const remove = (key: string): Write => ({ op: "remove", table: "keys", key });

const KEYS = Array.from({ length: 40 }, (_, index) => String((index * 37) % 100).padStart(3, "0"));
const fill = (store: SealedStore): void => {
  commitTo(store, peerRow(integrity.publicKey));
  for (const key of KEYS) commitTo(store, insert(key));
};

const copied = (): MemoryTables => new Map([...tables].map(([table, rows]) => [table, new Map(rows)] as const));
const rowAt = (at: MemoryTables, table: TableName, key: string): StoredRow => {
  const row = at.get(table)?.get(key);
  if (row === undefined) throw new Error(`no row ${table}/${key}`);
  return row;
};

beforeEach(() => {
  tables = new Map();
  fill(open());
});

describe("a scan of the rest", () => {
  it("ends without a word where the keys go meanwhile, and begins anew with them", () => {
    const store = unsealed();
    const rest = store.verifyRest();
    for (let pages = 0; pages < 3; pages++) expect(rest.next().done).toBe(false);
    store.useKey(undefined);
    expect(rest.next()).toEqual({ done: true, value: undefined });
    expect(store.isWhole).toBe(false);
    store.useKey(integrity);
    // What the first scan has proven is not believed any more.
    tables.get("keys")?.set("037", { ...rowAt(tables, "keys", "037"), row: Uint8Array.of(1) });
    expect(ended(store.verifyPages())).toBeUndefined();
    expect(ended(store.verifyRest())).toMatch(/^keys\/037: /);
  });

  it("goes on over ranges that are cut, filled and emptied meanwhile", () => {
    const store = unsealed();
    let pages = 0;
    const rest = store.verifyRest();
    for (let page = rest.next(); page.done !== true; page = rest.next(), pages++) {
      const key = KEYS[pages % KEYS.length] ?? "";
      commitTo(store, ...["a", "b", "c", "d", "e"].map((each) => insert(`${key}${each}${pages}`)));
      if (pages < KEYS.length) commitTo(store, remove(key));
    }
    expect(store.isWhole).toBe(true);
    expect(pages).toBeGreaterThan(8);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("does not take a transaction that becomes visible meanwhile for damage", () => {
    let flush: () => void = () => undefined;
    const store = unsealed(openOver(new MemoryByteStore({ tables, schedule: (run) => (flush = run) })));
    const rest = store.verifyRest();
    let isOver = false;
    for (let turn = 0; !isOver; turn++) {
      store.commit(
        [insert(`x${turn}`), insert(`0${turn}x`), ...(turn < 10 ? [remove(KEYS[turn] ?? "")] : [])],
        () => {},
      );
      const page = rest.next();
      expect(page.done === true ? page.value : undefined).toBeUndefined();
      isOver = page.done === true;
      flush();
    }
    expect(open().verifyAll()).toBeUndefined();
  });
});

describe("a scan of the rest, in the middle of a range", () => {
  it("goes on where its rows are changed", () => {
    const good = copied();
    for (let slices = 0, isOver = false; !isOver; slices++) {
      tables = good;
      tables = copied();
      const store = unsealed();
      const rest = store.verifyRest();
      for (let at = 0; at < slices; at++) isOver = rest.next().done === true;
      commitTo(store, ...KEYS.map((key) => replace(key, `${key} again`)));
      expect(ended(rest), `after ${slices} slices`).toBeUndefined();
    }
  });

  it("misses no row behind it where a range of others is emptied, and becomes its end", () => {
    const good = copied();
    /** Whether a row that lies there otherwise is found, all rows behind one having been removed after some slices. */
    const finds = (slices: number, removed: ReadonlyArray<string>, key: string, row: StoredRow): boolean => {
      tables = good;
      tables = copied();
      const store = unsealed();
      const rest = store.verifyRest();
      for (let at = 0; at < slices; at++) rest.next();
      commitTo(store, ...removed.map(remove));
      tables.get("keys")?.set(key, row);
      return ended(rest) !== undefined;
    };
    let noticed = 0;
    for (const last of KEYS.toSorted().filter((_, at) => at % 5 === 1))
      for (let slices = 0; slices < 30; slices++) {
        const removed = KEYS.filter((key) => key > last);
        const [back = ""] = removed;
        if (!finds(slices, removed, last, { ...rowAt(good, "keys", last), row: Uint8Array.of(1) })) continue;
        noticed += 1;
        expect(finds(slices, removed, back, rowAt(good, "keys", back)), `${last}, ${slices} slices`).toBe(true);
      }
    expect(noticed).toBeGreaterThan(5);
  });
});

describe("a transaction", () => {
  it("that finds the store not opened yet proves what it changes first", () => {
    for (const write of [insert("0371"), replace("037", "x"), remove("037")]) {
      const good = copied();
      tables.get("keys")?.delete("036");
      tables.get("keys")?.delete("037");
      expect(() => commitTo(open(), write)).toThrow(IntegrityFailure);
      tables = good;
      commitTo(open(), write);
      expect(open().verifyAll()).toBeUndefined();
      tables = good;
    }
  });

  it("that is lost leaves everything as it was, whatever it was about to cut or close", () => {
    for (let turn = 0; turn < 80; turn++) {
      let lost: ReadonlyArray<Change> | undefined;
      const bytes = new MemoryByteStore({ tables });
      const store = unsealed(
        openOver({
          get: bytes.get,
          scan: bytes.scan,
          keys: bytes.keys,
          // The process ends before this is durable.
          commit: (changes) => {
            lost = changes;
          },
        }),
      );
      const writes = Array.from({ length: 7 }, (_, at) => insert(`${turn}-${at}`));
      store.commit(writes, () => {
        throw new Error("it is lost");
      });
      expect(lost).toBeDefined();
      expect(ended(unsealed().verifyRest())).toBeUndefined();
      // The same again, and this time it stays.
      commitTo(open(), ...writes);
      if (turn % 8 === 0) expect(open().verifyAll()).toBeUndefined();
    }
    expect(open().verifyAll()).toBeUndefined();
  });

  it("of which only a part lies there is noticed before anything is signed on it, or when that is read", () => {
    for (const without of ["ranges", "keys", "head", "seals"] as const) {
      const before = copied();
      commitTo(open(), ...Array.from({ length: 7 }, (_, at) => insert(`new-${at}`)));
      const after = tables;
      tables = new Map(after);
      tables.set(without, new Map(before.get(without)));
      expect(() => unsealed().get("keys", "new-3"), without).toThrow(IntegrityFailure);
      expect(open().verifyAll(), without).toBeDefined();
      tables = before;
    }
  });
});

describe("rows of ranges", () => {
  it("are written anew again and again, and stay as few as ranges are", () => {
    const store = open();
    for (let turn = 0; turn < 300; turn++) commitTo(store, replace(KEYS[(turn * 7) % KEYS.length] ?? "", `at ${turn}`));
    expect(tables.get("ranges")?.size).toBeLessThan(60);
    expect(open().verifyAll()).toBeUndefined();
  });

  it("are not believed where each is from a time of its own", () => {
    const times: Array<MemoryTables> = [];
    const store = open();
    for (let turn = 0; turn < 12; turn++) {
      commitTo(store, replace("037", `at ${turn}`), insert(`n${turn}`));
      times.push(copied());
    }
    const now = copied();
    for (const then of times.slice(0, -1))
      for (const key of new Set([...(then.get("ranges")?.keys() ?? []), ...(now.get("ranges")?.keys() ?? [])])) {
        const [old, row] = [then.get("ranges")?.get(key), now.get("ranges")?.get(key)];
        if (old === row) continue;
        tables = new Map(now);
        const mixed = new Map(now.get("ranges"));
        if (old === undefined) mixed.delete(key);
        else mixed.set(key, old);
        tables.set("ranges", mixed);
        expect(() => unsealed(), key).toThrow(IntegrityFailure);
      }
  });

  it("that nobody wrote are refused as they are read, or by the head", () => {
    const good = copied();
    const [[key, row] = ["", undefined]] = [...(good.get("ranges") ?? [])];
    if (row === undefined) throw new Error("there are no ranges");
    const planted: ReadonlyArray<readonly [string, StoredRow]> = [
      ["b9999999999999999", row],
      ["c", row],
      ["a0000000000000009", { row: Uint8Array.of(0x80), seal: row.seal }],
      ["z".repeat(600), row],
    ];
    for (const each of planted) {
      tables = new Map(good);
      tables.set("ranges", new Map([...(good.get("ranges") ?? []), each]));
      expect(() => unsealed(), each[0]).toThrow(IntegrityFailure);
    }
    tables = new Map(good);
    tables.set("ranges", new Map([...(good.get("ranges") ?? [])].filter(([each]) => each !== key)));
    expect(() => unsealed()).toThrow(IntegrityFailure);
  });
});

describe("rows in a range that nobody has looked at", () => {
  const asked: Rows["keys"] = { id: "of 037" };

  it("are noticed before anything rests on them: taken away, put back, or exchanged with their like", () => {
    const older = rowAt(tables, "keys", "037");
    commitTo(open(), replace("037", "newer"), replace("074", "another"));
    const good = copied();
    const keys = (): Map<string, StoredRow> => new Map(good.get("keys"));
    const away = keys();
    away.delete("037");
    const back = keys().set("037", older);
    const exchanged = keys()
      .set("037", rowAt(good, "keys", "074"))
      .set("074", rowAt(good, "keys", "037"));
    for (const [how, bad] of Object.entries({ away, back, exchanged })) {
      tables = new Map(good);
      tables.set("keys", bad);
      expect(() => unsealed().get("keys", "037"), how).toThrow(IntegrityFailure);
      expect(() => unsealed().scan("keys", "0", 50)).toThrow(IntegrityFailure);
      expect(() => unsealed().keys("keys", "0", 50)).toThrow(IntegrityFailure);
      for (const write of [replace("037", "x"), insert("0370"), remove("037")])
        expect(() => commitTo(unsealed(), write)).toThrow(IntegrityFailure);
    }
    tables = good;
    expect(unsealed().get("keys", "037")).not.toEqual(asked);
  });
});

describe("a thief of the disk", () => {
  const codec = rowCodec("ranges");
  type Stored = Rows["ranges"]["ranges"][number];
  type Cut = (ranges: ReadonlyArray<Stored>, at: number) => ReadonlyArray<Stored>;

  const rangesOf = (key: string): ReadonlyArray<Stored> =>
    Either.getOrThrow(decode(codec, rowAt(tables, "ranges", key).row)).ranges;
  const written = (ranges: ReadonlyArray<Stored>): StoredRow => ({
    row: encode(codec, { ranges }),
    seal: new Uint8Array(0),
  });
  const withRanges = (key: string, row: StoredRow): void =>
    void tables.set("ranges", new Map([...(tables.get("ranges") ?? []), [key, row]]));

  const cuts: Readonly<Record<string, Cut>> = {
    "leaves a range out": (ranges, at) => ranges.filter((_, index) => index !== at),
    "joins a range to the one before it": (ranges, at) =>
      ranges.flatMap((range, index) =>
        index === at ? [] : index === at - 1 ? [{ ...range, rows: range.rows + (ranges[at]?.rows ?? 0) }] : [range],
      ),
    "cuts a range in two": (ranges, at) =>
      ranges.flatMap((range, index) => (index === at ? [range, { ...range, after: `${range.after}0` }] : [range])),
    "puts a range before another": (ranges, at) =>
      ranges.toSpliced(at - 1, 2, ...ranges.slice(at - 1, at + 1).toReversed()),
    "exchanges what stands for two ranges": (ranges, at) =>
      ranges.map((range, index) => ({
        ...range,
        digest: (index === at ? ranges[at - 1] : index === at - 1 ? ranges[at] : range)?.digest ?? range.digest,
      })),
    "lets a range begin elsewhere": (ranges, at) =>
      ranges.map((range, index) => (index === at ? { ...range, after: `${range.after}1` } : range)),
    "opens a range": (ranges, at) => ranges.map((range, index) => (index === at ? { ...range, digest: OPEN } : range)),
    "gives a range more rows": (ranges, at) =>
      ranges.map((range, index) => (index === at ? { ...range, rows: range.rows + 1 } : range)),
  };

  it.each(Object.entries(cuts))("who %s is found by the head, at any place", (_, cut) => {
    const good = copied();
    let tried = 0;
    for (const key of good.get("ranges")?.keys() ?? [])
      for (let at = 1; at < rangesOf(key).length; at++) {
        const bad = written(cut(rangesOf(key), at));
        // It was open before, for one.
        if (sameBytes(bad.row, rowAt(good, "ranges", key).row)) continue;
        tried += 1;
        withRanges(key, bad);
        expect(() => unsealed(), `${key}, ${at}`).toThrow(IntegrityFailure);
        tables = new Map(good);
      }
    expect(tried).toBeGreaterThan(5);
  });

  it("who opens all ranges makes no peer read their rows", () => {
    for (const key of tables.get("ranges")?.keys() ?? [])
      withRanges(key, written(rangesOf(key).map((range) => ({ ...range, digest: OPEN }))));
    const bytes = new MemoryByteStore({ tables });
    const read: Array<string> = [];
    const scan: ByteStore["scan"] = (table, after, limit) => {
      read.push(table);
      return bytes.scan(table, after, limit);
    };
    const store = openOver({ get: bytes.get, keys: bytes.keys, commit: bytes.commit, scan });
    expect(ended(store.verifyPages())).toBe("ranges: they are not those that the head was signed for");
    expect(new Set(read)).toEqual(new Set(["integrity", "ranges"]));
  });

  it("who brings rows, their seals and their range back together is found, with any head of any time", () => {
    const then = copied();
    commitTo(open(), replace("037", "newer"), remove("074"));
    const now = copied();
    for (const heads of [then, now])
      for (const ranges of [then, now])
        for (const seals of [then, now])
          for (const keys of [then, now]) {
            const parts = [heads, ranges, seals, keys];
            if (parts.every((each) => each === then) || parts.every((each) => each === now)) continue;
            tables = new Map(now);
            for (const [at, name] of (["head", "ranges", "seals", "keys"] as const).entries())
              tables.set(name, new Map(parts[at]?.get(name)));
            expect(() => {
              const store = unsealed();
              const why = ended(store.verifyRest());
              if (why !== undefined) throw new IntegrityFailure("the rest", why);
            }).toThrow(IntegrityFailure);
          }
  });

  it("who puts a row of his own between others, with the seal of one of these, is found when that is asked for", () => {
    const like = rowAt(tables, "keys", "037");
    tables.set("keys", new Map([...(tables.get("keys") ?? []), ["0375", like]]));
    expect(() => unsealed().get("keys", "0375")).toThrow(IntegrityFailure);
    expect(() => unsealed().get("keys", "037")).toThrow(IntegrityFailure);
    expect(() => unsealed().scan("keys", "", 99)).toThrow(IntegrityFailure);
    expect(open().verifyAll()).toBeDefined();
  });
});

describe("the name after which a range begins", () => {
  it("has 1024 characters at most, and a row of ranges 65,536 of them", () => {
    const codec = rowCodec("ranges");
    const range = { after: "k".repeat(NAME_CHARACTERS), rows: 1, digest: OPEN };
    const isRead = (ranges: ReadonlyArray<typeof range>): boolean =>
      Either.isRight(decode(codec, encode(codec, { ranges })));
    const tried = (ranges: ReadonlyArray<typeof range>): boolean => {
      try {
        return isRead(ranges);
      } catch {
        return false;
      }
    };
    expect(tried([range])).toBe(true);
    expect(tried([{ ...range, after: `${range.after}k` }])).toBe(false);
    const short = { ...range, after: "k" };
    expect(tried(Array.from({ length: RANGES_IN_ROW }, () => short))).toBe(true);
    expect(tried(Array.from({ length: RANGES_IN_ROW + 1 }, () => short))).toBe(false);
  });
});
