/**
 * `npm run mutate`: changes `core` in small ways, one at a time, and says which changes nobody noticed. First a few
 * seeds of the simulator look at each; unit tests look at those that are left.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { Array } from "effect";
import { Misuse, printLine, runScript } from "../../sim/bin/Script.ts";
import { explained } from "./Explained.ts";
import { type FoundMutant, isCounted, isLeft, nameOf, readMutants } from "./Mutants.ts";

const STRYKER = "node_modules/@stryker-mutator/core/bin/stryker.js";
const CACHE = "node_modules/.cache/custody";
const TESTS = "!core/**/*.test.ts";

/** Runs one of the two stages, and reads its report. Throws where it does not come to its end. */
const stage = (name: "seeds" | "tests", mutate: ReadonlyArray<string>): ReadonlyArray<FoundMutant> => {
  const config = `properties/mutation/${name}.stryker.json`;
  const { status } = spawnSync(
    process.execPath,
    ["--import", "tsx", STRYKER, "run", config, "--mutate", mutate.join(",")],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  if (status !== 0) throw new Error(`Stryker ended with ${status} while ${name} looked at the mutants`);
  return readMutants(`${CACHE}/mutants-${name}.json`);
};

/** The same change in both reports. */
const nameAt = ({ range, replacement }: FoundMutant): string => `${range} ${replacement}`;

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 100);

const printFiles = (mutants: ReadonlyArray<FoundMutant>, left: ReadonlySet<FoundMutant>): void => {
  for (const [file, all] of Object.entries(Array.groupBy(mutants, (mutant) => mutant.file))) {
    const survivors = all.filter((mutant) => left.has(mutant)).length;
    printLine(`${String(all.length - survivors).padStart(5)} of ${String(all.length).padStart(4)}  ${file}`);
  }
};

/** All of `core`, a folder at a time: what counts which test runs what takes minutes where all of it is changed at once. */
const folders = (): ReadonlyArray<string> => [
  "core/*.ts",
  ...readdirSync("core", { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `core/${name}/**/*.ts`)
    .toSorted(),
];

/** What became of the mutants of some files. */
interface Judged {
  readonly mutants: ReadonlyArray<FoundMutant>;
  readonly bySeeds: number;
  readonly left: ReadonlyArray<FoundMutant>;
}

/** Holds the mutants of files against seeds, and those that are left against unit tests. */
const judge = (files: ReadonlyArray<string>): Judged => {
  const mutants = stage("seeds", [...files, TESTS]).filter(isCounted);
  const survivors = mutants.filter(isLeft);
  const second = survivors.length === 0 ? [] : stage("tests", [...new Set(survivors.map(({ range }) => range))]);
  const killed = new Set(second.filter((mutant) => isCounted(mutant) && !isLeft(mutant)).map(nameAt));
  const left = survivors.filter((mutant) => !killed.has(nameAt(mutant)));
  printFiles(mutants, new Set(left));
  return { mutants, bySeeds: mutants.length - survivors.length, left };
};

/** Those that nothing explains. A reason holds for one place: where a file has the same code twice, it is given twice. */
const withoutReason = (left: ReadonlyArray<FoundMutant>): ReadonlyArray<FoundMutant> => {
  const reasons = Array.groupBy(explained, nameOf);
  return left.filter((mutant) => reasons[nameOf(mutant)]?.pop() === undefined);
};

runScript({
  help: `Usage: npm run mutate -- [--files GLOBS]

Changes core/ in small ways, one at a time, and lists the changes that neither seeds nor unit tests notice and that
properties/mutation/Explained.ts does not explain. Ends with 1 where there are any.

  --files GLOBS  which files to change, divided by commas (default: all of core/, a folder at a time, which takes hours)
`,
  options: { files: { type: "string" } },
  main: ({ files }) => {
    if (files === "") throw new Misuse("--files must name files of core/");
    const groups = files === undefined ? folders().map((each) => [each]) : [files.split(",")];
    const judged = groups.map(judge);
    const left = judged.flatMap((each) => each.left);
    const unexplained = withoutReason(left);
    for (const { file, line, original, replacement } of unexplained)
      printLine(`${file}:${line}  ${onOneLine(original)}  ->  ${onOneLine(replacement)}`);
    const all = judged.reduce((sum, { mutants }) => sum + mutants.length, 0);
    const bySeeds = judged.reduce((sum, each) => sum + each.bySeeds, 0);
    const killed = all - left.length;
    printLine(
      `${all} mutants: ${bySeeds} killed by seeds, ${killed - bySeeds} by unit tests; ` +
        `${left.length - unexplained.length} explained, ${unexplained.length} left. ` +
        `Score: ${all === 0 ? "none" : `${((100 * killed) / all).toFixed(1)} % killed`}`,
    );
    return unexplained.length === 0 ? 0 : 1;
  },
});
