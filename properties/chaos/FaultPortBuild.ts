/** Compiles the fault port to plain JavaScript: a peer that loaded a compiler first would start half as fast. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const modules = ["FaultPort", "PortFiles", "SecretHook"];

export interface FaultPortFiles {
  readonly entry: string;
  readonly secretHook: string;
}

/**
 * Writes the port into a new folder.
 *
 * @returns the paths of its first module, and of the one that the product's own modules pass through
 */
export const buildFaultPort = (folder: string): FaultPortFiles => {
  mkdirSync(folder, { mode: 0o700 });
  for (const name of modules) {
    const source = readFileSync(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)), "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        module: ts.ModuleKind.CommonJS,
        target: ts.ScriptTarget.ES2023,
        rewriteRelativeImportExtensions: true,
      },
    });
    writeFileSync(join(folder, `${name}.js`), outputText, { mode: 0o600 });
  }
  writeFileSync(join(folder, "package.json"), '{"type":"commonjs"}\n', { mode: 0o600 });
  return { entry: join(folder, "FaultPort.js"), secretHook: join(folder, "SecretHook.js") };
};
