/**
 * `npm start`: makes one file of all sources and packages, and runs `custody dev` from it with the arguments
 * given here. Each process of the cluster then loads a file instead of a thousand modules; loading those through
 * a TypeScript loader took four times as much of a processor. Made anew at every start, in about a second, so it
 * is never older than the sources.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, stop } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "node_modules/.cache/custody");

const { outputFiles } = await build({
  absWorkingDir: root,
  // Side by side, because the first starts the second as its writing thread.
  entryPoints: ["server/bin/custody.ts", "server/sqlite/WriterThread.ts"],
  entryNames: "[name]",
  outdir: folder,
  bundle: true,
  write: false,
  platform: "node",
  target: "node20",
  format: "esm",
  // The first finds its native part beside its own files; the second is for sources only.
  external: ["better-sqlite3", "tsx"],
  // For packages in the older module format, which ask for Node's own modules this way.
  banner: { js: 'import { createRequire as requireFrom } from "node:module";\nconst require = requireFrom(import.meta.url);' },
  logLevel: "warning",
});
// Its helper would stay for as long as the cluster runs.
await stop();

mkdirSync(folder, { recursive: true });
for (const { path, contents } of outputFiles) {
  // Whole or not at all: the peers of another cluster may be starting from it.
  const unfinished = join(folder, `.${basename(path)}.${process.pid}`);
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}

const program = join(folder, "custody.js");
process.argv = [process.execPath, program, "dev", ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
