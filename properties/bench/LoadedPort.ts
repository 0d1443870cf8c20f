/** A file of ours that measured processes load before their own code. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/**
 * Compiles the port into a folder.
 * @returns the environment of processes that load it; what it writes down is in that folder
 */
export const portIn = (folder: string, source: URL): Readonly<Record<string, string>> => {
  const { outputText } = ts.transpileModule(readFileSync(source, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 },
  });
  const port = join(folder, `${basename(fileURLToPath(source), ".ts")}.cjs`);
  writeFileSync(port, outputText);
  return { NODE_OPTIONS: `--require "${port}"`, BENCH_PORT: folder };
};
