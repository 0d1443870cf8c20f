/** Mutants as StrykerJS reports them in JSON, and what became of each. */
import { readFileSync } from "node:fs";
import { Schema } from "effect";

const Position = Schema.Struct({ line: Schema.Int, column: Schema.Int });

const Mutant = Schema.Struct({
  mutatorName: Schema.String,
  replacement: Schema.optionalWith(Schema.String, { default: () => "" }),
  status: Schema.Literal("Killed", "Survived", "NoCoverage", "Timeout", "Ignored", "RuntimeError", "CompileError"),
  /** Lines and columns from 1; the end is behind the last character. */
  location: Schema.Struct({ start: Position, end: Position }),
});

const Report = Schema.Struct({
  files: Schema.Record({
    key: Schema.String,
    value: Schema.Struct({ source: Schema.String, mutants: Schema.Array(Mutant) }),
  }),
});

export type Status = (typeof Mutant.Type)["status"];

/** One change of one piece of code. */
export interface FoundMutant {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** What the file says there, and what it says instead; longer than a line where blocks are changed. */
  readonly original: string;
  readonly replacement: string;
  readonly status: Status;
  /** `file:line:column-line:column` with columns from 0, as `--mutate` takes it. */
  readonly range: string;
}

const textBetween = (lines: ReadonlyArray<string>, { start, end }: (typeof Mutant.Type)["location"]): string => {
  const chosen = lines.slice(start.line - 1, end.line);
  // The end is cut first: on a single line both cuts are of the same text.
  return chosen
    .map((text, index) => (index === chosen.length - 1 ? text.slice(0, end.column - 1) : text))
    .map((text, index) => (index === 0 ? text.slice(start.column - 1) : text))
    .join("\n");
};

/** All mutants of a report. Throws where the file is missing or is none. */
export const readMutants = (path: string): ReadonlyArray<FoundMutant> => {
  const { files } = Schema.decodeUnknownSync(Schema.parseJson(Report))(readFileSync(path, "utf8"));
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    return mutants.map(({ location, replacement, status }): FoundMutant => {
      const { start, end } = location;
      const range = `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
      return { file, line: start.line, original: textBetween(lines, location), replacement, status, range };
    });
  });
};

/** What tells one mutant from the others of its file, wherever its line has gone. */
export const nameOf = ({ file, original, replacement }: Omit<FoundMutant, "line" | "status" | "range">): string =>
  JSON.stringify([file, original, replacement]);

/** Whether no test has noticed it. */
export const isLeft = ({ status }: FoundMutant): boolean => status === "Survived" || status === "NoCoverage";

/** Whether it counts: texts, and what runs only while modules load, do not. */
export const isCounted = ({ status }: FoundMutant): boolean =>
  status !== "Ignored" && status !== "RuntimeError" && status !== "CompileError";
