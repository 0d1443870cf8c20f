// node .ci/summary.mjs FOLDER/PART.json... PART=CODE...: a line for each part that failed, files of tests by their
// names, then "N passed, M failed". A part with a report, which is vitest's JSON, is counted by it, each other as one.
import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

const say = (line) => process.stdout.write(`${line}\n`);

let passed = 0;
let failed = 0;

/** Counts the tests of a report, names the files that failed, and returns whether all went well. */
const count = (report) => {
  let tested = { numPassedTests: 0, testResults: [] };
  try {
    tested = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    say(`the ${basename(report, ".json")} left no report`);
  }
  passed += tested.numPassedTests;
  let missed = 0;
  for (const { name, status, assertionResults } of tested.testResults) {
    const broken = assertionResults.filter((each) => each.status === "failed").length;
    if (broken === 0 && status !== "failed") continue;
    // A file that cannot be loaded has no failed test in it, and fails all the same.
    missed += Math.max(1, broken);
    say(`failed: ${relative(process.cwd(), name)}${broken === 0 ? ", as a whole" : `, tests: ${broken}`}`);
  }
  failed += missed;
  return { missed, hasTests: tested.numPassedTests > 0 };
};

const words = process.argv.slice(2);
const reports = words.filter((word) => word.endsWith(".json"));
for (const part of words.filter((word) => !word.endsWith(".json"))) {
  const [, name, code] = /^(.*)=(\d+)$/.exec(part);
  const report = reports.find((each) => basename(each, ".json") === name);
  const counted = report === undefined ? undefined : count(report);
  const isMissed =
    counted === undefined ? code !== "0" : counted.missed === 0 && (code !== "0" || !counted.hasTests);
  if (isMissed) {
    failed += 1;
    say(`failed: ${name}, exit code ${code}`);
  } else if (counted === undefined) passed += 1;
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
