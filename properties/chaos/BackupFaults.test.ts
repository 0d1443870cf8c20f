/** What a restore after a destroyed disk must not end like, planted one by one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, expect, it } from "vitest";
import { encode } from "../../core/codec/CborWriter.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { rowCodec } from "../../core/Tables.ts";
import { openSqliteByteStore } from "../../server/sqlite/SqliteByteStore.ts";
import type { Violation } from "../../sim/base/Violation.ts";
import { BackupFaults } from "./BackupFaults.ts";
import { restoreWays } from "./BackupWays.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-restores-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The backup that every restore here is from ends with transaction 7; the disk that is destroyed ends with 9. */
const [IN_BACKUP, ON_DISK] = [7, 9];

/** Makes a database that ends with a transaction. */
const database = async (directory: string, transactions: number): Promise<void> => {
  const store = await Effect.runPromise(openSqliteByteStore({ directory }));
  const row = encode(rowCodec("head"), { transactions, rows: 0, digest: "0".repeat(64) as Digest });
  const value = { row, seal: new Uint8Array(1) };
  await new Promise((done) => store.commit([{ op: "insert", table: "head", key: "self", value }], done));
  await Effect.runPromise(store.close);
};

/** One call of the command: the transaction it leaves behind, if any, and how it ends. */
interface Call {
  readonly leaves?: number;
  readonly how: number | "SIGKILL";
}

/** What the run says of a peer whose disk is destroyed, where the command does this, call by call. */
const restoring = async (way: (typeof restoreWays)[number], ...calls: ReadonlyArray<Call>) => {
  const directory = join(mkdtempSync(join(folder, "peer-")), "data");
  await database(directory, ON_DISK);
  const violations: Array<Violation> = [];
  const did: Array<string> = [];
  let called = 0;
  const custody = () => {
    const { leaves, how } = calls[called++] ?? expect.fail("it is not called again");
    const ended = async () => {
      if (leaves !== undefined) await database(directory, leaves);
      return how;
    };
    return { ended, stderr: "the words it ends with", signal: () => undefined };
  };
  const cluster = {
    backups: { of: () => [{ slot: 2, file: "backup", transactions: IN_BACKUP }] },
    custody,
    dataOf: () => directory,
    folder: { peer: () => ({ config: "peer.yaml" }) },
    peer: () => ({
      kill: async () => void did.push("killed"),
      putBack: (newest: number, transactions: number, how: string) =>
        void did.push(`${how}: ${newest} to ${transactions}`),
      start: () => void did.push("started"),
    }),
  };
  const faults = new BackupFaults(cluster as never, {} as never, (violation) => violations.push(violation));
  const fault = { amount: restoreWays.indexOf(way), lastsMillis: 1 };
  const isDone = await faults.restore({ slot: 2 } as never, fault as never);
  expect(called).toBe(calls.length);
  return { isDone, did, violations: violations.map(({ id, facts }) => [id, ...facts]) };
};

const well = { isDone: true, did: ["killed", "declared: 9 to 7", "started"], violations: [] };
const DESTROYED = "the disk of peer 2 was destroyed";

it("is no fault where the command makes the disk, or is killed and leaves none or the whole", async () => {
  const made: Call = { leaves: IN_BACKUP, how: 0 };
  const cut: Call = { how: "SIGKILL" };
  expect(await restoring("from the newest", made)).toEqual(well);
  expect(await restoring("from the oldest, killed first", cut, made)).toEqual(well);
  expect(await restoring("from the newest, killed first", { leaves: IN_BACKUP, how: "SIGKILL" })).toEqual(well);
});

it("is RESTORE where the command fails, or says it is done and is not", async () => {
  const lost = { isDone: false, did: ["killed"] };
  expect(await restoring("from the newest", { how: 3 })).toEqual({
    ...lost,
    violations: [["RESTORE", DESTROYED, "custody restore ended with 3: the words it ends with"]],
  });
  expect(await restoring("from the oldest", { how: 0 })).toEqual({
    ...lost,
    violations: [["RESTORE", DESTROYED, "custody restore ended with 0, and no database is there"]],
  });
});

it("is RESTORE where a command that was killed leaves a part", async () => {
  const { violations } = await restoring("from the newest, killed first", { leaves: 4, how: "SIGKILL" });
  expect(violations).toEqual([
    [
      "RESTORE",
      expect.stringMatching(/^custody restore was killed, and .*custody\.db is there$/),
      "it ends with transaction 4",
    ],
  ]);
});
