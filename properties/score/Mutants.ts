/** Mutants of the product, as Stryker's mutators make them, and a sample of them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import { isInAssertion } from "./Assertions.ts";
import type { Changed } from "./Compiler.ts";
import { comparing, type SwitchNames } from "./Differences.ts";

/** What is judged, as folders of the repository. */
export const FOLDERS: ReadonlyArray<string> = ["core/protocol", "core/commands", "runtime"];

/** Kinds that are left out: most strings are words for people, and the others are tags that the compiler checks. */
export const LEFT_OUT: ReadonlyArray<string> = ["StringLiteral"];

/** One changed place. */
export interface Mutant {
  /** Eight hexadecimal characters that stay the same while the place does, wherever it moves in its file. */
  readonly id: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly mutator: string;
  /** As they stand in the code; the replacement is printed anew. */
  readonly original: string;
  readonly replacement: string;
}

/** A source file with all mutants of the sample that are in it, each behind a question with its number there. */
interface Mutated {
  readonly mutants: ReadonlyArray<Mutant>;
  /** How many were drawn besides, and refused. */
  readonly refused: number;
  /** Source of TypeScript, by path in the repository. */
  readonly sources: ReadonlyMap<string, string>;
}

/** The first two as Stryker writes them. */
const SWITCH: SwitchNames = {
  isActive: "stryMutAct_9fa48",
  reach: "stryCov_9fa48",
  isRecording: "isRecording_9fa48",
  compare: "compare_9fa48",
};

const silence = (): void => undefined;
const logger = {
  trace: silence,
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
  fatal: silence,
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
};

const hash = (...parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** The source files of the folders that are judged, by path. */
export const sourcesOf = (root: string): ReadonlyMap<string, string> =>
  new Map(
    FOLDERS.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
        .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
    )
      .toSorted()
      .map((path) => [path, readFileSync(join(root, path), "utf8")]),
  );

interface Position {
  readonly line: number;
  readonly column: number;
}

const textBetween = (lines: ReadonlyArray<string>, start: Position, end: Position): string => {
  const whole = lines.slice(start.line, end.line + 1);
  const last = whole.length - 1;
  return whole
    .map((line, index) => line.slice(index === 0 ? start.column : 0, index === last ? end.column : undefined))
    .join("\n");
};

const offsetOf = (lines: ReadonlyArray<string>, { line, column }: Position): number =>
  lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, column);

/** All mutants of some sources, in the order of the files, and the sources with a question to each. */
const instrument = async (sources: ReadonlyMap<string, string>) => {
  const files = [...sources].map(([name, content]) => ({ name, content, mutate: true }));
  const options = { plugins: null, ignorers: [], excludedMutations: [...LEFT_OUT], noHeader: true };
  const instrumented = await new Instrumenter(logger).instrument(files, options);
  const lines = new Map([...sources].map(([name, content]) => [name, content.split("\n")]));
  const alike = new Map<string, number>();
  const mutants = instrumented.mutants
    .filter(({ status }) => status !== "Ignored")
    .map(({ id: place, fileName: file, location, mutatorName: mutator, replacement }) => {
      const original = textBetween(lines.get(file) ?? [], location.start, location.end);
      const kind = hash(file, mutator, original, replacement);
      const nth = (alike.get(kind) ?? 0) + 1;
      alike.set(kind, nth);
      const id = hash(kind, String(nth)).slice(0, 8);
      const start = offsetOf(lines.get(file) ?? [], location.start);
      const mutant = { id, file, line: location.start.line + 1, mutator, original, replacement };
      return { place, start, end: start + original.length, mutant };
    });
  return { mutants, files: instrumented.files };
};

/** Leaves in a source only the mutants that have a number. */
const renumber = (source: string, numberOf: (place: string) => number | undefined): string =>
  source
    .replaceAll(new RegExp(`${SWITCH.isActive}\\("(\\d+)"\\)`, "gu"), (_, place: string) => {
      const number = numberOf(place);
      return number === undefined ? "false" : `${SWITCH.isActive}(${number})`;
    })
    .replaceAll(new RegExp(`${SWITCH.reach}\\(([^)]*)\\)`, "gu"), (_, places: string) => {
      const numbers = places.match(/\d+/gu)?.flatMap((place) => numberOf(place) ?? []) ?? [];
      return numbers.length === 0 ? "0" : `${SWITCH.reach}(${numbers.join(", ")})`;
    });

/** Which mutants are wanted. */
export interface Wanted {
  readonly most: number;
  /** Another number is another sample. */
  readonly sample: number;
  /** Beginnings of `file` or `file:line`; all where there is none. */
  readonly only: ReadonlyArray<string>;
  /** Whole ids; all where there is none. */
  readonly ids: ReadonlyArray<string>;
  /** The ids of those that are no mutants, and are replaced by the next of the sample. */
  readonly refused: (changed: ReadonlyArray<Changed>) => ReadonlySet<string>;
}

const isWanted = ({ id, file, line }: Mutant, { only, ids }: Wanted): boolean =>
  (ids.length === 0 || ids.includes(id)) &&
  (only.length === 0 || only.some((path) => (path.includes(":") ? `${file}:${line}` === path : file.startsWith(path))));

/**
 * A sample of the mutants of some sources. A mutant is in it or not by its own id and the number of the sample, so
 * that a sample stays as it is where the code does.
 */
export const mutate = async (sources: ReadonlyMap<string, string>, wanted: Wanted): Promise<Mutated> => {
  const { mutants, files } = await instrument(sources);
  const inAssertion = new Map([...sources].map(([name, source]) => [name, isInAssertion(source)]));
  const rank = new Map(mutants.map(({ mutant }) => [mutant.id, hash(String(wanted.sample), mutant.id)]));
  const rankOf = ({ id }: Mutant): string => rank.get(id) ?? "";
  const ranked = mutants
    .filter(({ mutant, start, end }) => isWanted(mutant, wanted) && inAssertion.get(mutant.file)?.(start, end) !== true)
    .toSorted((left, right) => (rankOf(left.mutant) < rankOf(right.mutant) ? -1 : 1));
  const changed = ({ start, end, mutant }: (typeof ranked)[number]): Changed => {
    const source = sources.get(mutant.file) ?? "";
    return { ...mutant, text: source.slice(0, start) + mutant.replacement + source.slice(end) };
  };
  const drawn: Array<(typeof ranked)[number]> = [];
  let looked = 0;
  while (drawn.length < wanted.most && looked < ranked.length) {
    const next = ranked.slice(looked, looked + wanted.most - drawn.length);
    looked += next.length;
    const refused = wanted.refused(next.map(changed));
    drawn.push(...next.filter(({ mutant }) => !refused.has(mutant.id)));
  }
  const numbers = new Map(drawn.map(({ place }, number) => [place, number]));
  const paths = new Set(drawn.map(({ mutant }) => mutant.file));
  return {
    mutants: drawn.map(({ mutant }) => mutant),
    refused: looked - drawn.length,
    sources: new Map(
      files
        .filter(({ name }) => paths.has(name))
        .map(({ name, content }) => [
          name,
          comparing(
            renumber(content, (place) => numbers.get(place)),
            SWITCH,
          ),
        ]),
    ),
  };
};

/** The line that a mutated source begins with. */
export const header = (switchModule: string): string => {
  const names = Object.entries(SWITCH).map(([name, here]) => `${name} as ${here}`);
  return `import { ${names.join(", ")} } from ${JSON.stringify(switchModule)};\n`;
};
