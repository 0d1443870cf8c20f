/** What is erased is nowhere in the data folder any more once that is acknowledged, whatever else was written there. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TableName } from "../../core/Tables.ts";
import type { Change, StoreFailure } from "../../runtime/ByteStore.ts";
import { copyDatabase } from "./Copier.ts";
import { openSqliteByteStore, type SqliteByteStore } from "./SqliteByteStore.ts";
import { databaseFile } from "./StoreDirectory.ts";

const library = createRequire(import.meta.url).resolve("better-sqlite3");

let directory: string;
let opened: Array<SqliteByteStore>;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "custody-erasure-"));
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await Effect.runPromise(Effect.ignore(store.close));
  rmSync(directory, { recursive: true });
});

const open = async (options: { readonly emptyingAttempts?: number } = {}): Promise<SqliteByteStore> => {
  const store = await Effect.runPromise(openSqliteByteStore({ directory, ...options }));
  opened.push(store);
  return store;
};

const commit = (store: SqliteByteStore, changes: ReadonlyArray<Change>): Promise<StoreFailure | undefined> =>
  new Promise((resolve) => {
    store.commit(changes, resolve);
  });

/** A linear congruential generator, whose low bits repeat early: the same rows in every run. */
const drawing = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 16;
  };
  return {
    below: (bound: number) => next() % bound,
    bytes: (length: number) => Uint8Array.from({ length }, () => next() >>> 8),
  };
};

const seal = new Uint8Array(64).fill(9);
const put = (op: "insert" | "replace", table: TableName, key: string, row: Uint8Array): Change => ({
  op,
  table,
  key,
  value: { row, seal },
});

/** Pieces of these rows that stand in any file of the folder, by the file's name. */
const found = (rows: Iterable<Uint8Array>): ReadonlyArray<string> => {
  const files = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))] as const);
  return [...rows].flatMap((row) =>
    [0, Math.floor(row.length / 2), row.length - 12].flatMap((at) =>
      files.filter(([, bytes]) => bytes.includes(Buffer.from(row.subarray(at, at + 12)))).map(([name]) => name),
    ),
  );
};

describe("an erased row", () => {
  it("is in the files before, and in none after", async () => {
    const store = await open();
    const row = drawing(1).bytes(73);
    expect(await commit(store, [put("insert", "shares", "k/1", row)])).toBeUndefined();
    expect(store.get("shares", "k/1")?.row).toEqual(row);
    expect(found([row])).not.toEqual([]);
    expect(await commit(store, [{ op: "remove", table: "shares", key: "k/1" }])).toBeUndefined();
    expect(found([row])).toEqual([]);
  });

  it("was replaced just as well", async () => {
    const store = await open();
    const { bytes } = drawing(2);
    const [old, young] = [bytes(73), bytes(73)];
    await commit(store, [put("insert", "pending", "k/1", old)]);
    await commit(store, [put("replace", "pending", "k/1", young)]);
    expect(found([old])).toEqual([]);
    expect(store.scan("pending", "", 10).map(({ value }) => value.row)).toEqual([young]);
  });

  it("may be an old vault, with which the shares of before a rekey would open", async () => {
    const store = await open();
    const { bytes } = drawing(5);
    const [old, young] = [bytes(300), bytes(300)];
    await commit(store, [put("insert", "vault", "self", old)]);
    expect(found([old])).not.toEqual([]);
    await commit(store, [put("replace", "vault", "self", young)]);
    expect(found([old])).toEqual([]);
    expect(store.get("vault", "self")?.row).toEqual(young);
  });

  /** Inside a page SQLite moves rows about and leaves what it moved: without their lead some of these are found. */
  it("is found nowhere after thousands of other changes", { timeout: 120_000 }, async () => {
    const store = await open();
    const { below, bytes } = drawing(3);
    const live = new Map<string, Uint8Array>();
    const gone: Array<Uint8Array> = [];
    const tables = ["shares", "pending", "outbox", "counters", "sessions"] as const;
    for (let round = 0; round < 400; round++) {
      const changes = new Map<string, Change>();
      for (let change = 0; change < 8; change++) {
        const table = tables[below(tables.length)] ?? "shares";
        const key = `k${below(200)}`;
        const id = `${table} ${key}`;
        if (changes.has(id)) continue;
        const old = live.get(id);
        const row = bytes(table === "outbox" ? 200 + below(3_000) : 73 + below(60));
        const isSecret = table === "shares" || table === "pending";
        if (old !== undefined && isSecret) gone.push(old);
        const isRemoved = old !== undefined && below(2) === 0;
        changes.set(
          id,
          isRemoved ? { op: "remove", table, key } : put(old === undefined ? "insert" : "replace", table, key, row),
        );
        if (isRemoved) live.delete(id);
        else live.set(id, row);
      }
      expect(await commit(store, [...changes.values()])).toBeUndefined();
    }
    // The last commit may have erased nothing: what was erased before is gone all the same.
    expect(gone.length).toBeGreaterThan(300);
    expect(found(gone)).toEqual([]);
    for (const [id, row] of live) {
      const [table, key = ""] = id.split(" ");
      expect(store.get(table as TableName, key)?.row).toEqual(row);
    }
  });
});

/** Holds a snapshot of the database in another process until it is killed. */
const reader = async () => {
  const script = `
    const database = new (require(${JSON.stringify(library)}))(process.argv[1], { readonly: true });
    database.exec("BEGIN");
    database.prepare("SELECT count(*) FROM working").get();
    console.log("reading");
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ["-e", script, databaseFile(directory)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
};

describe("whoever has a copy of the database", () => {
  const erase: Change = { op: "remove", table: "shares", key: "k/1" };
  const insert = (key: string): Change => put("insert", "shares", key, drawing(8).bytes(73));

  it("is told before each commit that erases, of no other, and not once it wants no more", async () => {
    const store = await open();
    const told: Array<string> = [];
    const forget = store.whenErasing((takesAway) => told.push(takesAway ? "erasing" : "moving"));
    expect(await commit(store, [insert("k/1")])).toBeUndefined();
    expect(told).toEqual([]);
    const erased = commit(store, [erase, insert("k/2")]);
    expect(told).toEqual(["erasing"]);
    await erased;
    await commit(store, [
      put("insert", "pending", "k/3", drawing(9).bytes(73)),
      put("insert", "vault", "self", drawing(9).bytes(8)),
    ]);
    await commit(store, [{ op: "remove", table: "pending", key: "k/3" }, insert("k/3")]);
    await commit(store, [put("replace", "vault", "self", drawing(10).bytes(8))]);
    expect(told.splice(1)).toEqual(["moving", "moving"]);
    await commit(store, [put("insert", "pending", "k/4", drawing(9).bytes(73))]);
    await commit(store, [{ op: "remove", table: "pending", key: "k/4" }, { ...insert("k/5") }]);
    expect(told.splice(1)).toEqual(["erasing"]);
    forget();
    await commit(store, [{ ...erase, key: "k/2" }]);
    expect(told).toEqual(["erasing"]);
  });

  it("is told at once of one under way, which a copy may be made before, and of none that is over", async () => {
    const store = await open();
    await commit(store, [insert("k/1")]);
    const erased = commit(store, [erase]);
    let told = 0;
    const listen = (): void => void store.whenErasing(() => (told += 1));
    listen();
    expect(told).toBe(1);
    await erased;
    listen();
    const inserted = commit(store, [insert("k/1")]);
    listen();
    expect(told).toBe(1);
    await inserted;
  });
});

describe("a reader that keeps the log", () => {
  it("keeps the erasure from being acknowledged until it ends", async () => {
    const store = await open();
    const row = drawing(4).bytes(73);
    await commit(store, [put("insert", "shares", "k/1", row)]);
    const end = await reader();
    let isAcknowledged = false;
    const erased = commit(store, [{ op: "remove", table: "shares", key: "k/1" }]).finally(() => {
      isAcknowledged = true;
    });
    while (store.get("shares", "k/1") !== undefined) await new Promise(setImmediate);
    expect(isAcknowledged).toBe(false);
    await end();
    expect(await erased).toBeUndefined();
    expect(found([row])).toEqual([]);
  });

  it("fails the store where it does not end, and the next start erases first", async () => {
    const store = await open({ emptyingAttempts: 1 });
    const row = drawing(5).bytes(73);
    await commit(store, [put("insert", "shares", "k/1", row)]);
    const end = await reader();
    const failure = await commit(store, [{ op: "remove", table: "shares", key: "k/1" }]);
    expect(failure?.message).toContain("its log could not be emptied of an erased share or an old vault");
    await Effect.runPromise(Effect.ignore(store.close));
    const refused = await Effect.runPromise(Effect.flip(openSqliteByteStore({ directory })));
    expect(refused.reason).toBe("busy");
    await end();
    const again = await open();
    expect(again.get("shares", "k/1")).toBeUndefined();
    expect(found([row])).toEqual([]);
  });

  it("is told that it is in the way: a copy that is made gives up", { timeout: 60_000 }, async () => {
    const store = await open();
    const { bytes } = drawing(6);
    const row = bytes(73);
    await commit(store, [put("insert", "shares", "k/1", row)]);
    for (let batch = 0; batch < 40; batch++)
      await commit(
        store,
        Array.from({ length: 64 }, (_, index) => put("insert", "outbox", `o${batch}-${index}`, bytes(20_000))),
      );
    const gone = new AbortController();
    store.whenErasing(() => gone.abort());
    const copied = copyDatabase(directory, gone.signal);
    // From here on the copy holds its snapshot.
    while (!readdirSync(directory).some((name) => name.startsWith("custody.backup"))) await new Promise(setImmediate);
    expect(await commit(store, [{ op: "remove", table: "shares", key: "k/1" }])).toBeUndefined();
    await copied;
    rmSync(join(directory, "custody.backup"), { force: true });
    expect(found([row])).toEqual([]);
  });
});

it("is gone from the log at the next start, where the process ended before it was emptied", async () => {
  const store = await open();
  const row = drawing(7).bytes(73);
  await commit(store, [put("insert", "shares", "k/1", row)]);
  await Effect.runPromise(store.close);
  // As a process leaves it that dies between the transaction and the checkpoint.
  const script = `
    const database = new (require(${JSON.stringify(library)}))(process.argv[1]);
    database.pragma("secure_delete = ON");
    database.pragma("wal_autocheckpoint = 0");
    database.exec("DELETE FROM working WHERE name = 'shares'");
    process.kill(process.pid, "SIGKILL");`;
  spawnSync(process.execPath, ["-e", script, databaseFile(directory)]);
  expect(found([row])).not.toEqual([]);
  const again = await open();
  expect(again.get("shares", "k/1")).toBeUndefined();
  expect(found([row])).toEqual([]);
});
