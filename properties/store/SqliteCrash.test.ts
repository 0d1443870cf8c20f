/** What only a real process on a real disk can show: SIGKILL in the middle of writing, and flushes counted from outside. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { unsafeUniformIntDistribution, xoroshiro128plus } from "pure-rand";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteByteStore } from "../../server/sqlite/SqliteByteStore.ts";
import { CommitProcess } from "./CommitProcess.ts";
import type { CommitReport } from "./CommitReport.ts";
import { differences, lastTransaction } from "./NumberedTransactions.ts";

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "custody-crash-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

const seed = 20_260_801;
/** Each kill stops every directory at a moment of its own: 20 torn stores for the price of 5 processes. */
const directoryNames = ["first", "second", "third", "fourth"];
const kills = 5;
const mostReports = 300;
/** Each process loads the program once for itself and once for each directory; a busy machine takes its time over that. */
const patienceMillis = 180_000;

/** Lets a loaded process go and kills it after it made that many reports, the rest of which are read too. */
const killAfter = async (child: CommitProcess, wanted: number): Promise<ReadonlyArray<CommitReport>> => {
  const reports: Array<CommitReport> = [];
  child.letGo();
  while (reports.length < wanted) {
    const report = await child.next();
    if (report === undefined) throw new Error("the process ended before it was killed");
    reports.push(report);
  }
  return [...reports, ...(await child.kill())];
};

/** After `last` was acknowledged: that many transactions are there or one more, and none in part. */
const expectWhole = (found: number, contradictions: ReadonlyArray<string>, last: number): void => {
  expect(contradictions).toEqual([]);
  expect([last, last + 1]).toContain(found);
};

/** Checks what one process said about one directory; gives the last transaction acknowledged there so far. */
const follow = (reports: ReadonlyArray<CommitReport>, last: number): number => {
  let expected = last;
  for (const report of reports) {
    if (report.kind === "opened") {
      expectWhole(report.last, report.differences, expected);
      expected = report.last;
    }
    if (report.kind === "acknowledged") expect(report.number).toBe(++expected);
  }
  return expected;
};

describe("a process killed while it writes", () => {
  it(
    `leaves every acknowledged transaction whole, at most one more, and none in part (seed ${seed})`,
    async () => {
      const random = xoroshiro128plus(seed);
      const directories = directoryNames.map((name) => join(parent, name));
      const start = () => new CommitProcess(directories, Infinity);
      const last = new Map(directories.map((directory) => [directory, 0]));
      // The next process loads its code while this one is at work.
      let waiting = start();
      for (let kill = 1; kill <= kills; kill++) {
        const child = waiting;
        if (kill < kills) waiting = start();
        const reports = await killAfter(child, unsafeUniformIntDistribution(1, mostReports, random));
        for (const [directory, number] of last) {
          last.set(
            directory,
            follow(
              reports.filter((report) => report.directory === directory),
              number,
            ),
          );
        }
      }
      for (const [directory, number] of last) {
        const store = await Effect.runPromise(openSqliteByteStore({ directory }));
        const found = lastTransaction(store);
        expectWhole(found, differences(store, found), number);
        expect(number).toBeGreaterThan(kills);
        await Effect.runPromise(store.close);
      }
    },
    patienceMillis,
  );

  it("lets the directory go, which refused every other process before", async () => {
    const child = new CommitProcess([parent], Infinity);
    child.letGo();
    for (let report = await child.next(); report?.kind !== "opened"; ) report = await child.next();
    const refusal = await Effect.runPromise(Effect.flip(openSqliteByteStore({ directory: parent })));
    expect(refusal).toMatchObject({ _tag: "StoreOpenError", reason: "in-use", file: parent });
    await child.kill();
    const store = await Effect.runPromise(openSqliteByteStore({ directory: parent }));
    expect(differences(store, lastTransaction(store))).toEqual([]);
    await Effect.runPromise(store.close);
  });
});

const tracer = "strace";
const canTrace = spawnSync(tracer, ["-e", "trace=none", "true"]).status === 0;

describe("flushes", () => {
  it(canTrace ? "are at least as many as commits" : "NOT COUNTED: strace does not run on this machine", async () => {
    if (!canTrace) return;
    const commits = 200;
    const counts = join(parent, "counts");
    const trace = ["-f", "--seccomp-bpf", "-e", "trace=fdatasync,fsync", "-c", "-U", "calls,name", "-o", counts];
    const child = new CommitProcess([join(parent, "store")], commits, [tracer, ...trace]);
    child.letGo();
    expect(await child.end()).toBe(0);
    const lines = readFileSync(counts, "utf8").matchAll(/^\s*(\d+)\s+f(?:data)?sync$/gm);
    const flushes = [...lines].reduce((total, [, calls]) => total + Number(calls), 0);
    expect(flushes).toBeGreaterThanOrEqual(commits);
  });
});
