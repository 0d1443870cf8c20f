// node .ci/summary.mjs REPORT PART=CODE...: a line for each part that failed, files of tests by their names, then
// "N passed, M failed". REPORT is vitest's JSON; the part "tests" is counted by it, each other part as one.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const [, , report, ...parts] = process.argv;

const say = (line) => process.stdout.write(`${line}\n`);

let tested = { numPassedTests: 0, testResults: [] };
try {
  tested = JSON.parse(readFileSync(report, "utf8"));
} catch {
  say("the tests left no report");
}

let passed = tested.numPassedTests;
let failed = 0;
for (const { name, status, assertionResults } of tested.testResults) {
  const broken = assertionResults.filter((each) => each.status === "failed").length;
  if (broken === 0 && status !== "failed") continue;
  // A file that cannot be loaded has no failed test in it, and fails all the same.
  failed += Math.max(1, broken);
  say(`failed: ${relative(process.cwd(), name)}${broken === 0 ? ", as a whole" : `, tests: ${broken}`}`);
}
for (const part of parts) {
  const [, name, code] = /^(.*)=(\d+)$/.exec(part);
  const isTests = name === "tests";
  const isMissed = isTests ? failed === 0 && (code !== "0" || passed === 0) : code !== "0";
  if (isMissed) {
    failed += 1;
    say(`failed: ${name}, exit code ${code}`);
  } else if (!isTests) passed += 1;
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
