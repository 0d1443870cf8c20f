import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "custody-summary-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, ...assertions: ReadonlyArray<string>) => ({
  name: join(process.cwd(), name),
  status: assertions.length > 0 && assertions.every((status) => status === "passed") ? "passed" : "failed",
  assertionResults: assertions.map((status) => ({ status })),
});

const reportOf = (part: string, numPassedTests: number, testResults: ReadonlyArray<object>): string => {
  const report = join(folder, `${part}.json`);
  writeFileSync(report, JSON.stringify({ numPassedTests, testResults }));
  return report;
};

const summaryOf = (...words: ReadonlyArray<string>) => {
  const { status, stdout } = spawnSync(process.execPath, [".ci/summary.mjs", ...words], { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
};

const summary = (numPassedTests: number, testResults: ReadonlyArray<object>, ...parts: ReadonlyArray<string>) =>
  summaryOf(reportOf("tests", numPassedTests, testResults), ...parts);

describe("the end of .ci/run", () => {
  it("counts each part beside the tests as one", () => {
    const told = summary(3, [file("a/B.test.ts", "passed")], "tests=0", "chaos=0", "Node 22=0");
    expect(told).toEqual({ status: 0, lines: ["5 passed, 0 failed"] });
  });

  it("names the files of failed tests, files that cannot be loaded, and the parts that failed", () => {
    const files = [
      file("a/B.test.ts", "failed", "passed", "failed"),
      file("a/C.test.ts"),
      file("a/D.test.ts", "passed"),
    ];
    expect(summary(2, files, "tests=1", "chaos=0", "the drill=1", "Node 24=3")).toEqual({
      status: 1,
      lines: [
        "failed: a/B.test.ts, tests: 2",
        "failed: a/C.test.ts, as a whole",
        "failed: the drill, exit code 1",
        "failed: Node 24, exit code 3",
        "3 passed, 5 failed",
      ],
    });
  });

  it("says that the tests failed where no file of them did", () => {
    const told = summary(2, [file("a/B.test.ts", "passed")], "tests=1", "chaos=0");
    expect(told).toEqual({ status: 1, lines: ["failed: tests, exit code 1", "3 passed, 1 failed"] });
  });

  it("adds up the tests of two parts, and notices one that left no report", () => {
    const tests = reportOf("tests", 2, [file("a/B.test.ts", "passed")]);
    const hunts = reportOf("hunts", 4, [file("a/C.test.ts", "failed")]);
    expect(summaryOf(tests, hunts, "tests=0", "hunts=1").lines).toEqual([
      "failed: a/C.test.ts, tests: 1",
      "6 passed, 1 failed",
    ]);
    expect(summaryOf(tests, join(folder, "lost.json"), "tests=0", "lost=1")).toEqual({
      status: 1,
      lines: ["the lost left no report", "failed: lost, exit code 1", "2 passed, 1 failed"],
    });
  });
});
