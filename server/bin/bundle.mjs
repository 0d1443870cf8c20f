/**
 * Makes one file of all sources and packages for each program, so that a process loads a file instead of a
 * thousand modules; loading those through a TypeScript loader takes four times as much of a processor. Made
 * anew each time, in about a second, so it is never older than the sources.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const cache = join(root, "node_modules/.cache/custody");

/** @param {string} folder @param {ReadonlyArray<{ readonly path: string, readonly contents: Uint8Array }>} files */
const writeAll = (folder, files) => {
  for (const { path, contents } of files) {
    mkdirSync(dirname(path), { recursive: true });
    // Whole or not at all: other processes may be starting from it.
    const unfinished = join(folder, `.${basename(path)}.${process.pid}`);
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
};

/**
 * Writes one file for each of some programs, side by side, because one may start another.
 *
 * @param {string} name of the folder in the cache beside the packages
 * @param {ReadonlyArray<string>} entryPoints the programs' sources, seen from the root of the checkout
 * @returns {string} the folder
 */
export const bundle = (name, entryPoints) => {
  const folder = join(cache, name);
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [...entryPoints],
    entryNames: "[name]",
    outdir: folder,
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "esm",
    // With `--enable-source-maps` a stack names places in the sources: the simulator tells them of what is thrown (E1).
    sourcemap: "linked",
    // It finds its native part beside its own files.
    external: ["better-sqlite3"],
    // For packages in the older module format, which ask for Node's own modules this way.
    banner: { js: 'import { createRequire as requireFrom } from "node:module";\nconst require = requireFrom(import.meta.url);' },
    logLevel: "warning",
  });
  writeAll(folder, outputFiles);
  return folder;
};

/**
 * Bundles the command line, the threads of its store, the processes of its hunts and its page.
 *
 * @returns {string} the path of the command line's own file
 */
export const bundleCommand = () => {
  const folder = bundle("command", [
    "server/bin/custody.ts",
    "server/sqlite/WriterThread.ts",
    "server/sqlite/CopyThread.ts",
    "sim/bin/HuntWorker.ts",
  ]);
  const page = join(root, "server/enroll/page");
  writeAll(
    folder,
    readdirSync(page).map((file) => ({ path: join(folder, "page", file), contents: readFileSync(join(page, file)) })),
  );
  return join(folder, "custody.js");
};
