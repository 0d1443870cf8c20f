/** A missing case does not compile: shown by leaving one out of every switch there is. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const NOT_NEVER = 2345;

interface Found {
  readonly file: string;
  readonly line: number;
  /** The expression it switches on, as written. */
  readonly on: string;
  readonly isExhaustive: boolean;
  /** The position of one whole case, or of a label that shares its body with the next one. */
  readonly from: number;
  readonly to: number;
}

const switchesIn = (file: string, source: ts.SourceFile): ReadonlyArray<Found> => {
  const found: Array<Found> = [];
  const visit = (node: ts.Node): void => {
    if (ts.isSwitchStatement(node)) {
      const [first] = node.caseBlock.clauses;
      const last = node.caseBlock.clauses.at(-1);
      found.push({
        file,
        line: source.getLineAndCharacterOfPosition(node.getStart(source)).line,
        on: node.expression.getText(source),
        isExhaustive: last !== undefined && ts.isDefaultClause(last) && last.getText(source).includes("absurd("),
        from: first?.getStart(source) ?? 0,
        to: first?.getEnd() ?? 0,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const files = ["core", "runtime", "sim"].flatMap((folder) =>
  ts.sys.readDirectory(`${root}/${folder}`, [".ts"], ["**/*.test.ts"]),
);
const all = files.flatMap((file) =>
  switchesIn(file, ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true)),
);
const exhaustive = all.filter((each) => each.isExhaustive);

/** The same text without the first case of each of its switches; lines stay where they are. */
const withHoles = (file: string, text: string): string =>
  exhaustive
    .filter((each) => each.file === file)
    .reduce(
      (rest, { from, to }) => rest.slice(0, from) + rest.slice(from, to).replace(/[^\n]/g, " ") + rest.slice(to),
      text,
    );

describe("a switch", () => {
  it("has every case of its type, unless it is on JavaScript's types, a number, a table of rows, or an open kind", () => {
    const open = all.filter((each) => !each.isExhaustive).map(({ on }) => on);
    expect(new Set(open)).toEqual(
      new Set([
        "typeof value",
        "byte",
        'unit.between("how", 0, 0, 8)',
        'unit.between("what", 0, 0, 3)',
        "write.table",
        "kind",
        "source.major()",
      ]),
    );
  });

  it("does not compile where a case is missing", () => {
    const host = ts.createCompilerHost(options);
    const changed = new Set(exhaustive.map(({ file }) => file));
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (file, version, ...rest) =>
      changed.has(file)
        ? ts.createSourceFile(file, withHoles(file, readFileSync(file, "utf8")), version, true)
        : read(file, version, ...rest);
    const program = ts.createProgram([...changed], options, host);
    const unseen = exhaustive.filter(({ file, from, line }) => {
      const source = program.getSourceFile(file);
      if (source === undefined) return true;
      const next = exhaustive.find((each) => each.file === file && each.from > from);
      return !program.getSemanticDiagnostics(source).some(({ code, start = 0 }) => {
        const at = source.getLineAndCharacterOfPosition(start).line;
        return code === NOT_NEVER && at > line && (next === undefined || at < next.line);
      });
    });
    expect(exhaustive.length).toBeGreaterThan(20);
    expect(unseen.map(({ file, line }) => `${file}:${line + 1}`)).toEqual([]);
  }, 120_000);
});
