/** Long stretches of work of the event loops of measured processes, which reads have to wait for. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** When a stretch ended, and what it took of the processor. */
export interface Stretch {
  /** Unix milliseconds of its end. */
  readonly at: number;
  readonly millis: number;
}

/** Compiles the port into a folder. @returns the environment of processes whose stretches are written down there */
export const stretchesWrittenTo = (folder: string): Readonly<Record<string, string>> => {
  const source = readFileSync(fileURLToPath(new URL("./StretchPort.ts", import.meta.url)), "utf8");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 },
  });
  const port = join(folder, "StretchPort.cjs");
  writeFileSync(port, outputText);
  return { NODE_OPTIONS: `--require "${port}"`, BENCH_STRETCHES: folder };
};

/** The long stretches of a process, in order. */
export const stretchesOf = (folder: string, pid: number): ReadonlyArray<Stretch> => {
  const file = join(folder, `stretches-${pid}`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => line.split(" ").map(Number)).map(([at = 0, millis = 0]) => ({ at, millis }));
};
