/** One program that has all mutants of a sample in it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { header } from "./Mutants.ts";

/** Where the repository is. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The program of the score's processes. */
export const WORKER = fileURLToPath(new URL("./ScoreWorker.ts", import.meta.url));

const SWITCH = fileURLToPath(new URL("./Switch.ts", import.meta.url));

export interface Bundle {
  /** The file to run. */
  readonly program: string;
  readonly remove: () => void;
}

/**
 * Bundles a program with some of the repository's files replaced.
 *
 * @param sources what replaces them, by path in the repository
 */
export const bundle = async (entry: string, sources: ReadonlyMap<string, string>): Promise<Bundle> => {
  const folder = mkdtempSync(join(tmpdir(), "custody-score-"));
  const program = join(folder, "program.mjs");
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // Takes away the places of mutants that are not in the sample.
    minifySyntax: true,
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    plugins: [
      {
        name: "mutants",
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const source = sources.get(relative(ROOT, path).replaceAll("\\", "/"));
            const contents = source === undefined ? readFileSync(path, "utf8") : header(SWITCH) + source;
            return { contents, loader: "ts" };
          }),
      },
    ],
  });
  return { program, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
