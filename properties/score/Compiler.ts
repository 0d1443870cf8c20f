/** Which mutants the type checker refuses: nobody could have made that mistake, so they are no mutants. */
import { join } from "node:path";
import ts from "typescript";

/** A file of the repository as a mutant has it. */
export interface Changed {
  readonly id: string;
  readonly file: string;
  readonly text: string;
}

/** The rules of the repository without those of tidiness, which say nothing of types. */
const optionsOf = (root: string): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  return { ...options, noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true };
};

/** Some of them, no two of one file, and the rest. */
const oneOfEachFile = (changed: ReadonlyArray<Changed>): readonly [ReadonlyArray<Changed>, ReadonlyArray<Changed>] => {
  const first = new Map<string, Changed>();
  for (const each of changed) if (!first.has(each.file)) first.set(each.file, each);
  return [[...first.values()], changed.filter((each) => first.get(each.file) !== each)];
};

/**
 * The ids of those that the type checker refuses in their own file. Mutants of different files are checked at once;
 * one that is refused there is checked again alone, as another's types may be the reason.
 */
export const refusedBy = (root: string, sources: ReadonlyMap<string, string>) => {
  const files = [...sources.keys()].map((file) => join(root, file));
  const options = optionsOf(root);
  let program: ts.Program | undefined;
  const parsed = new Map<string, ts.SourceFile | undefined>();
  const check = (changed: ReadonlyArray<Changed>): ReadonlyArray<Changed> => {
    const texts = new Map(changed.map(({ file, text }) => [join(root, file), text]));
    const host = ts.createCompilerHost(options, true);
    const read = host.getSourceFile.bind(host);
    const getSourceFile: ts.CompilerHost["getSourceFile"] = (path, language, ...rest) => {
      const text = texts.get(path);
      if (text !== undefined) return ts.createSourceFile(path, text, language, true);
      if (!parsed.has(path)) parsed.set(path, read(path, language, ...rest));
      return parsed.get(path);
    };
    const current = ts.createProgram(files, options, { ...host, getSourceFile }, program);
    program = current;
    return changed.filter(({ file }) => {
      const source = current.getSourceFile(join(root, file));
      return current.getSyntacticDiagnostics(source).length > 0 || current.getSemanticDiagnostics(source).length > 0;
    });
  };
  return (changed: ReadonlyArray<Changed>): ReadonlySet<string> => {
    const refused = new Set<string>();
    let rest = changed;
    while (rest.length > 0) {
      const [batch, others] = oneOfEachFile(rest);
      for (const each of check(batch)) if (batch.length === 1 || check([each]).length > 0) refused.add(each.id);
      rest = others;
    }
    return refused;
  };
};
