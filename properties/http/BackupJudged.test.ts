/** Databases that somebody changed within a backup, told by what they hold; and peers started on copies. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Effect, Either } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openArchive } from "../../server/backup/Archive.ts";
import { judgeDatabase } from "../../server/backup/Judge.ts";
import type { Manifest } from "../../server/backup/Manifest.ts";
import { unpack } from "../../server/backup/Unpack.ts";
import { cryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { openClient } from "../../server/sqlite/Database.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import { runInProcess } from "../cli/InProcess.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const patience = { timeout: 60_000, interval: 100 };
const { crypto } = cryptoBackend("native");

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(2);
  for (const id of ["alice", "bob"]) expect((await cluster.register(1, registration(id))).status).toBe(201);
}, patience.timeout);
afterAll(() => cluster.close());

const backup = async (of: ServerCluster, id: number, name: string): Promise<string> => {
  const file = join(of.folder, name);
  const args = ["backup", "--url", of.server(id).url, "--to", file];
  expect(await runInProcess(args, { CUSTODY_TOKEN: of.token })).toMatchObject({ code: 0, stderr: "" });
  return file;
};

/** Unpacks a backup as it is. */
const unpacked = (file: string, target: string): Promise<Manifest> =>
  Effect.gen(function* () {
    const archive = yield* openArchive(file);
    yield* unpack(archive, target, () => undefined);
    return archive.manifest;
  }).pipe(Effect.scoped, Effect.runPromise);

const change = (file: string, sql: string): Promise<unknown> =>
  Effect.flatMap(openClient(file, "write"), (client) => client.unsafe(sql)).pipe(Effect.scoped, Effect.runPromise);

describe("a database", () => {
  let whole = "";
  beforeAll(async () => {
    whole = await backup(cluster, 1, "judged.tar");
  });

  const verdictOf = async (database: string, manifest: Manifest, tell = (): void => undefined): Promise<string> => {
    const verdict = await Effect.runPromise(Effect.either(judgeDatabase("FILE", database, manifest, crypto, tell)));
    return Either.isRight(verdict) ? "holds" : `${verdict.left.kind}: ${verdict.left.message}`;
  };
  const judged = async (name: string, ...changes: ReadonlyArray<string>): Promise<string> => {
    const database = join(cluster.folder, name);
    const manifest = await unpacked(whole, database);
    for (const sql of changes.flatMap((each) => each.split(";"))) await change(database, sql);
    return verdictOf(database, manifest);
  };

  it("holds as it was made", async () => expect(await judged("as-made.db")).toBe("holds"));

  it.each([
    ["of another program", "PRAGMA application_id = 7", /its database is the database of another program/],
    ["with a table more", "CREATE TABLE more (a)", /one too many/],
    ["that is no copy", "PRAGMA user_version = 0", /lacks the mark of a copy/],
    [
      "with a changed row",
      "UPDATE records SET row = CAST(row || x'00' AS BLOB) WHERE name = 'approvers'",
      /the seal does not hold/,
    ],
    [
      "with two rows exchanged",
      `UPDATE records SET (row, seal) = (SELECT row, seal FROM records AS other WHERE other.name = 'audit'
         AND other.key <> records.key ORDER BY other.key LIMIT 1) WHERE name = 'audit'
         AND key = (SELECT max(key) FROM records WHERE name = 'audit')`,
      /the seal does not hold/,
    ],
    [
      "without an approver",
      "DELETE FROM records WHERE name = 'approvers' AND key = (SELECT min(key) FROM records WHERE name = 'approvers')",
      /has \d+ rows instead of \d+/,
    ],
    [
      "with a gap in its audit",
      "DELETE FROM records WHERE name = 'audit' AND key = (SELECT min(key) FROM records WHERE name = 'audit')",
      /the audit breaks off after row 0/,
    ],
    [
      "whose audit ends early",
      "DELETE FROM records WHERE name = 'audit' AND key = (SELECT max(key) FROM records WHERE name = 'audit')",
      /the audit ends with row \d+ instead of \d+/,
    ],
    [
      "with a gap in its batches",
      "DELETE FROM records WHERE name = 'batches' AND key = (SELECT min(key) FROM records WHERE name = 'batches')",
      /the batches break off after 0/,
    ],
    ["with a range changed", "UPDATE working SET row = CAST(row || x'00' AS BLOB) WHERE name = 'ranges'", /: ranges\//],
    [
      "without ranges",
      "DELETE FROM working WHERE name = 'ranges'",
      /ranges: they are not those that the head was signed/,
    ],
    [
      "whose head is said to be from before there were ranges",
      `DELETE FROM working WHERE name = 'ranges';
       UPDATE working SET seal = CAST(x'8202a1' || substr(seal, 4, length(seal) - 38) AS BLOB) WHERE name = 'head'`,
      /head\/self: the seal does not hold/,
    ],
    ["without a topology", "DELETE FROM working WHERE name = 'topology'", /another peer or moment/],
  ])("%s is told", async (name, sql, says) => {
    const said = await judged(`${name}.db`, sql);
    expect(said).toMatch(/^broken: FILE: /);
    expect(said).toMatch(says);
  });

  it.each([
    [
      "of a newer program",
      "INSERT INTO custody_migrations (migration_id, name) VALUES (9, 'later')",
      /written by a newer version of this program; start that version/,
    ],
    [
      "with rows of a newer program",
      "UPDATE working SET seal = CAST(x'8204' || substr(seal, 3) AS BLOB) WHERE name = 'head'",
      /it has a row of a newer program \(.*version 4.*\); use that one/,
    ],
  ])("%s is not called broken: nothing was found out", async (name, sql, says) => {
    const said = await judged(`${name}.db`, sql);
    expect(said).toMatch(/^unusable: FILE: /);
    expect(said).toMatch(says);
  });

  it("that cannot be read is not called broken, before it is judged or meanwhile", { timeout: 60_000 }, async () => {
    const database = join(cluster.folder, "kept.db");
    const manifest = await unpacked(whole, database);
    const none = await verdictOf(join(cluster.folder, "none.db"), manifest);
    expect(none).toMatch(/^unusable: FILE: nothing was found out about it: its database, unpacked in .* permission/);
    const locker = new Database(database, { readonly: false });
    let isLocked = false;
    const lock = (): void => {
      if (!isLocked) locker.prepare("BEGIN EXCLUSIVE").run();
      isLocked = true;
    };
    try {
      const locked = /^unusable: FILE: .* is locked by another program .*; close that program \(SQLITE_BUSY\)$/;
      expect(await verdictOf(database, manifest, lock)).toMatch(locked);
      expect(await verdictOf(database, manifest)).toMatch(locked);
    } finally {
      locker.close();
    }
    expect(await verdictOf(database, manifest)).toBe("holds");
  });

  it("of another moment than the manifest's is told", async () => {
    await cluster.register(1, registration("carol"));
    const later = join(cluster.folder, "later.db");
    await unpacked(await backup(cluster, 1, "later.tar"), later);
    const manifest = await unpacked(whole, join(cluster.folder, "earlier.db"));
    const verdict = await Effect.runPromise(
      Effect.either(judgeDatabase("FILE", later, manifest, crypto, () => undefined)),
    );
    expect(Either.isLeft(verdict) && verdict.left.message).toBe(
      "FILE: its database tells of another peer or moment than its manifest",
    );
  });
});

const declared = (of: ServerCluster): number => of.logs.filter((line) => line.includes("a restore is declared")).length;

describe("a peer on a copy", () => {
  it(
    "declares the restore at every start until it is stored, however the copy came there",
    async () => {
      const file = await backup(cluster, 2, "plain.tar");
      const written = await cluster.register(1, registration("dave"));
      const { dataDir } = cluster.member(2);
      await cluster.stop(2);
      for (const ending of ["", "-wal", "-shm"]) rmSync(`${databaseFile(dataDir)}${ending}`, { force: true });
      await unpacked(file, databaseFile(dataDir));

      await cluster.run(2);
      await cluster.stop(2);
      await cluster.run(2);
      expect(declared(cluster)).toBe(2);
      await cluster.unseal(2);
      await cluster.ready(2);
      const ref = encodeURIComponent(String(written.json["ref"]));
      expect((await cluster.get(2, `/v1/custody/approvers/${ref}`)).text).toBe(written.text);
      await cluster.stop(2);
      await cluster.run(2);
      await cluster.unseal(2);
      await cluster.ready(1);
      expect(declared(cluster)).toBe(2);
      expect(cluster.halted).toEqual([]);
    },
    patience.timeout,
  );

  it(
    "that has no other member goes on from what it has, and says so",
    async () => {
      const alone = await ServerCluster.found(1);
      try {
        const written = await alone.register(1, registration("alice"));
        const file = await backup(alone, 1, "alone.tar");
        const { dataDir } = alone.member(1);
        await alone.stop(1);
        rmSync(dataDir, { recursive: true });
        const args = ["restore", "--from", file, "--config", alone.member(1).configFile];
        const restored = await runInProcess(args, {});
        expect(restored).toMatchObject({ code: 0, stderr: "" });
        expect(restored.stdout).toContain("which has only what the backup has: register again what came later");
        expect(restored.stdout).not.toMatch(/other members|declares the restore by itself/);
        const restart = async (): Promise<void> => {
          await alone.run(1);
          await alone.unseal(1);
          await alone.ready(1);
        };
        await restart();
        expect(alone.logs.some((line) => line.includes("A cluster of one has no other member"))).toBe(true);
        expect(declared(alone)).toBe(0);
        expect((await alone.read(1, String(written.json["ref"]))).text).toBe(written.text);
        await vi.waitFor(
          async () => {
            const [found] = (await change(databaseFile(dataDir), "PRAGMA user_version")) as ReadonlyArray<object>;
            expect(found).toEqual({ user_version: 0 });
          },
          { timeout: 10_000 },
        );
      } finally {
        await alone.close();
      }
    },
    patience.timeout,
  );

  it("removes at its start what a process that was killed left of a backup", async () => {
    const { dataDir } = cluster.member(1);
    await cluster.stop(1);
    for (const name of ["custody.backup", "custody.backup-journal"]) writeFileSync(join(dataDir, name), "half");
    await cluster.run(1);
    await cluster.unseal(1);
    expect(existsSync(join(dataDir, "custody.backup"))).toBe(false);
    expect(existsSync(join(dataDir, "custody.backup-journal"))).toBe(false);
  });
});

describe("a restore that was interrupted", () => {
  it("keeps a peer from beginning anew there, and can be repeated", async () => {
    const folder = join(cluster.folder, "interrupted");
    mkdirSync(folder, { mode: 0o700 });
    // What is there between the mark and the name.
    copyFileSync(join(cluster.member(1).dataDir, "custody.initialized"), join(folder, "custody.initialized"));
    writeFileSync(join(folder, "custody.db.restoring"), "half");
    const args = ["restore", "--from", join(cluster.folder, "judged.tar"), "--data", folder];
    expect(await runInProcess(args, {})).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(databaseFile(folder)).subarray(0, 15).toString()).toBe("SQLite format 3");
    expect(existsSync(join(folder, "custody.db.restoring"))).toBe(false);
  });
});
