import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TableName } from "../../core/Tables.ts";
import type { Change, StoreFailure, StoredRow } from "../../runtime/ByteStore.ts";
import { BlockReader, blocksOf } from "./Blocks.ts";
import { openClient, values } from "./Database.ts";
import { openSqliteByteStore, type SqliteByteStore } from "./SqliteByteStore.ts";
import { databaseFile } from "./StoreDirectory.ts";

const NOISE = Uint8Array.from({ length: 400 }, (_, index) => (index * index * 7) % 251);

const row = (table: TableName, key: string, length = 400) => ({ table, key, row: NOISE.slice(0, length) });

describe("the rows of a transaction", () => {
  it("share blocks where they are alike and long, and each can be read from it", () => {
    const rows = [row("certificates", "a"), row("audit", "1"), row("slots", "s"), row("slots", "t", 44)];
    const { inline, blocks } = blocksOf(rows);
    expect(inline.map(({ key }) => key)).toEqual(["t"]);
    const [block] = blocks;
    expect(block?.rows.map(({ key, at }) => [key, at])).toEqual([
      ["a", 0],
      ["1", 400],
      ["s", 800],
    ]);
    expect(block?.bytes.length).toBeLessThan(800);
    const reader = new BlockReader();
    for (const { at } of block?.rows ?? [])
      expect(reader.rowIn(block?.bytes ?? NOISE, block?.size, at, 400)).toEqual(NOISE);
  });

  it("are in one block of their own where nothing is like them, and in their tables where they are read often", () => {
    const { inline, blocks } = blocksOf([row("seals", "1"), row("approvers", "a"), row("seals", "2")]);
    expect(inline.map(({ key }) => key)).toEqual(["a"]);
    expect(blocks.map(({ rows, size, bytes }) => [rows.length, size, bytes.length])).toEqual([
      [1, null, 400],
      [1, null, 400],
    ]);
  });

  it("fill no block beyond its bound, except a row that is longer by itself", () => {
    const rows = Array.from({ length: 100 }, (_, index) => row("certificates", String(index)));
    const long = { table: "audit", key: "long", row: new Uint8Array(20_000) } as const;
    const sizes = blocksOf([...rows, long]).blocks.map(({ rows: own, size }) => [own.length, size]);
    expect(sizes).toEqual([
      [40, 16_000],
      [40, 16_000],
      [20, 8_000],
      [1, 20_000],
    ]);
  });

  it("are not what a damaged block gives, which throws nothing", () => {
    const reader = new BlockReader();
    const { blocks } = blocksOf([row("certificates", "a")]);
    const { bytes = NOISE, size } = blocks[0] ?? {};
    expect(reader.rowIn(bytes, size, 0, 400)).toEqual(NOISE);
    expect(reader.rowIn(new Uint8Array(bytes.length), size, 0, 400)).toEqual(new Uint8Array());
    expect(reader.rowIn(bytes, size, 300, 400)).toEqual(NOISE.slice(300));
    expect(reader.rowIn(bytes, size, null, "400")).toEqual(new Uint8Array());
    expect(reader.rowIn(bytes, size, 0, 400)).toEqual(NOISE);
  });
});

describe("blocks in a database", () => {
  let directory: string;
  let store: SqliteByteStore;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "custody-blocks-"));
    store = await Effect.runPromise(openSqliteByteStore({ directory }));
  });
  afterEach(async () => {
    await Effect.runPromise(Effect.ignore(store.close));
    rmSync(directory, { recursive: true });
  });

  const commit = (...changes: ReadonlyArray<Change>): Promise<StoreFailure | undefined> =>
    new Promise((resolve) => {
      store.commit(changes, resolve);
    });

  const ask = (sql: string) =>
    Effect.gen(function* () {
      const connection = yield* Effect.flatMap(openClient(databaseFile(directory), "write"), (own) => own.reserve);
      return yield* values(connection, sql);
    }).pipe(Effect.scoped, Effect.runSync);

  const valueOf = (length: number): StoredRow => ({ row: NOISE.slice(0, length), seal: Uint8Array.of(length % 7) });
  const put = (op: "insert" | "replace", table: TableName, key: string, length = 400): Change => ({
    op,
    table,
    key,
    value: valueOf(length),
  });

  it("go when the last of their rows is removed or replaced, and not before", async () => {
    expect(await commit(put("insert", "slots", "1", 44), put("insert", "seals", "1"))).toBeUndefined();
    expect(await commit(put("replace", "slots", "1"), put("insert", "audit", "1"))).toBeUndefined();
    expect(ask("SELECT rows FROM blocks ORDER BY id")).toEqual([[1], [2]]);
    expect(store.scan("slots", "", 9)).toEqual([{ key: "1", value: valueOf(400) }]);
    const removed: Change = { op: "remove", table: "seals", key: "1" };
    expect(await commit(removed, put("replace", "slots", "1", 50))).toBeUndefined();
    expect(ask("SELECT rows FROM blocks")).toEqual([[1]]);
    expect([store.get("slots", "1"), store.get("audit", "1"), store.get("seals", "1")]).toEqual([
      valueOf(50),
      valueOf(400),
      undefined,
    ]);
    expect(await commit(put("replace", "audit", "1", 399))).toBeUndefined();
    expect(ask("SELECT rows FROM blocks")).toEqual([[1]]);
    expect(await commit({ op: "remove", table: "audit", key: "1" })).toBeUndefined();
    expect(ask("SELECT count(*) FROM blocks")).toEqual([[0]]);
  });

  it("give a row of theirs that is not the one written where they are changed or gone, and no failure", async () => {
    await commit(put("insert", "certificates", "a"), put("insert", "certificates", "b"));
    ask("UPDATE blocks SET bytes = zeroblob(length(bytes))");
    expect(store.get("certificates", "a")).toEqual({ ...valueOf(400), row: new Uint8Array() });
    ask("DELETE FROM blocks");
    expect(store.get("certificates", "b")).toEqual({ ...valueOf(400), row: new Uint8Array() });
  });
});
