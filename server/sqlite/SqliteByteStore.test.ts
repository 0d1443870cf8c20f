import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Change, StoreFailure } from "../../runtime/ByteStore.ts";
import { openClient, values } from "./Database.ts";
import { openSqliteByteStore, type SqliteByteStore } from "./SqliteByteStore.ts";
import { databaseFile, markInitialized } from "./StoreDirectory.ts";

let parent: string;
let directory: string;
let opened: Array<SqliteByteStore>;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "custody-sqlite-"));
  directory = join(parent, "data");
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await Effect.runPromise(Effect.ignore(store.close));
  rmSync(parent, { recursive: true });
});

const open = async (flushDelayMillis = 0): Promise<SqliteByteStore> => {
  const store = await Effect.runPromise(openSqliteByteStore({ directory, flushDelayMillis }));
  opened.push(store);
  return store;
};

const refusal = () => Effect.runPromise(Effect.flip(openSqliteByteStore({ directory })));

const insert = (key: string, bytes = 1): Change => ({
  op: "insert",
  table: "keys",
  key,
  value: { row: new Uint8Array(bytes).fill(5), seal: new Uint8Array([6]) },
});

const commit = (store: SqliteByteStore, ...changes: ReadonlyArray<Change>): Promise<StoreFailure | undefined> =>
  new Promise((resolve) => {
    store.commit(changes, resolve);
  });

/** Runs SQL on the database from outside, as an operator's shell would. */
const meddle = (...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const connection = yield* Effect.flatMap(openClient(databaseFile(directory), "write"), (client) => client.reserve);
    yield* Effect.forEach(statements, (sql) => values(connection, sql), { discard: true });
  }).pipe(Effect.scoped, Effect.runSync);

describe("a database whose files are taken away while it is open", () => {
  const taken: ReadonlyArray<readonly [string, (file: string) => void]> = [
    ["deleted", (file) => rmSync(file)],
    ["moved", (file) => renameSync(file, `${file}.old`)],
    [
      "replaced",
      (file) => {
        copyFileSync(file, `${file}.new`);
        renameSync(`${file}.new`, file);
      },
    ],
  ];

  it.each(taken)("acknowledges nothing more when it is %s, and says what to do", async (_, take) => {
    const store = await open();
    expect(await commit(store, insert("a"))).toBeUndefined();
    take(databaseFile(directory));
    const failure = await commit(store, insert("b"));
    expect(failure?.message).toContain("custody.db was deleted, moved or replaced");
    expect(failure?.message).toContain("declare the restore");
  });

  it.each(["custody.db", "custody.db-wal"])("tells that %s is gone although nobody writes", async (file) => {
    const failure = await new Promise<StoreFailure>((failed) => {
      void Effect.runPromise(openSqliteByteStore({ directory, failed })).then((store) => {
        opened.push(store);
        rmSync(join(directory, file));
      });
    });
    expect(failure.message).toContain(`${file} was deleted`);
  });

  it("is not made anew in a folder where a peer was initialized", async () => {
    const store = await open();
    markInitialized(directory);
    await Effect.runPromise(store.close);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${databaseFile(directory)}${suffix}`, { force: true });
    expect(await refusal()).toMatchObject({ reason: "missing", file: databaseFile(directory) });
    expect(existsSync(databaseFile(directory))).toBe(false);
  });
});

describe("opening", () => {
  it("refuses a file that is not a database, and leaves it as it is", async () => {
    mkdirSync(directory, { mode: 0o700 });
    const text = "these are somebody's notes\n".repeat(200);
    writeFileSync(databaseFile(directory), text, { mode: 0o600 });
    expect(await refusal()).toMatchObject({ reason: "not-a-database", file: databaseFile(directory) });
    expect(readFileSync(databaseFile(directory), "utf8")).toBe(text);
  });

  it("refuses a damaged database", async () => {
    await Effect.runPromise((await open()).close);
    const bytes = readFileSync(databaseFile(directory));
    writeFileSync(databaseFile(directory), bytes.fill(0xff, 100, 4096));
    expect(await refusal()).toMatchObject({ reason: "corrupt", file: databaseFile(directory) });
  });

  it("refuses a second store on the directory until the first is closed", async () => {
    const store = await open();
    expect(await refusal()).toMatchObject({ reason: "in-use", file: directory });
    expect(await commit(store, insert("a"))).toBeUndefined();
    await Effect.runPromise(store.close);
    expect((await open()).get("keys", "a")).toBeDefined();
  });

  it("lets the directory go again when it fails", async () => {
    await Effect.runPromise((await open()).close);
    meddle("CREATE TABLE surplus (x)");
    expect(await refusal()).toMatchObject({ reason: "schema", detail: "unknown: surplus" });
    meddle("DROP TABLE surplus");
    expect((await open()).get("keys", "a")).toBeUndefined();
  });

  it("writes back the log a killed process left behind, before anything can be read", async () => {
    const store = await open();
    await commit(store, insert("a"), insert("b"));
    // Copied by another process: closing these files in this one would drop the store's locks.
    expect(spawnSync("cp", ["-r", directory, join(parent, "copy")]).status).toBe(0);
    directory = join(parent, "copy");
    expect(statSync(`${databaseFile(directory)}-wal`).size).toBeGreaterThan(0);
    const recovered = await open();
    expect(statSync(`${databaseFile(directory)}-wal`).size).toBe(0);
    expect(recovered.scan("keys", "", 9).map(({ key }) => key)).toEqual(["a", "b"]);
  });
});

describe("an open store", () => {
  it("keeps its log short while it writes", async () => {
    const store = await open();
    for (let index = 0; index < 24; index++) await commit(store, insert(`k${index}`, 1024 * 1024));
    expect(statSync(`${databaseFile(directory)}-wal`).size).toBeLessThan(8 * 1024 * 1024);
    expect(store.scan("keys", "", 99)).toHaveLength(24);
  });

  it("leaves the calling thread free while a flush takes its time", async () => {
    const store = await open(100);
    let turns = 0;
    const turn = (): void => {
      store.get("keys", "b");
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    expect(await commit(store, insert("a"))).toBeUndefined();
    clearImmediate(next);
    expect(turns).toBeGreaterThan(10);
  });

  it("fails for good when a commit cannot be carried out", async () => {
    const store = await open();
    meddle("DROP TABLE records");
    const failure = await commit(store, insert("a"));
    expect(failure?.message).toContain("the database could not be written: SQLITE_ERROR");
    expect(() => store.get("approvers", "a")).toThrow(StoreFailure);
    expect(await commit(store, insert("b"))).toBe(failure);
    expect(await Effect.runPromise(Effect.flip(store.close))).toBe(failure);
  });

  it("fails for good when it cannot read, and tells so once", async () => {
    const told: Array<StoreFailure> = [];
    const unreadable = (failure: StoreFailure): void => void told.push(failure);
    const store = await Effect.runPromise(openSqliteByteStore({ directory, unreadable }));
    opened.push(store);
    expect([store.get("keys", "a"), told]).toEqual([undefined, []]);
    meddle("DROP TABLE records");
    expect(() => store.get("keys", "a")).toThrow(/cannot be read: SQLITE_ERROR/);
    expect(() => store.scan("approvers", "", 1)).toThrow(StoreFailure);
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining("cannot be read: SQLITE_ERROR")]);
    expect(await commit(store, insert("a"))).toBeInstanceOf(StoreFailure);
  });

  it("finishes the commit under way when it is closed, and refuses the next", async () => {
    const store = await open(20);
    const outcome = commit(store, insert("a"));
    const closed = Effect.runPromise(store.close);
    expect((await commit(store, insert("b")))?.message).toBe("the store is closed");
    expect(() => store.get("keys", "a")).toThrow("the store is closed");
    expect(await outcome).toBeUndefined();
    await closed;
    await Effect.runPromise(store.close);
    expect((await open()).scan("keys", "", 9).map(({ key }) => key)).toEqual(["a"]);
  });
});
