/**
 * Makes one file of all sources and packages for each program, so that a process loads a file instead of a
 * thousand modules; loading those through a TypeScript loader takes four times as much of a processor. Made
 * anew each time, in about a second, so it is never older than the sources.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, stop } from "esbuild";

/**
 * Writes the files into the cache beside the packages.
 *
 * @returns {Promise<string>} the path of the command line's own
 */
export const makeBundle = async () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const folder = join(root, "node_modules/.cache/custody");

  const { outputFiles } = await build({
    absWorkingDir: root,
    // Side by side, because the first starts the others: a writing thread, and the processes of a hunt.
    entryPoints: ["server/bin/custody.ts", "server/sqlite/WriterThread.ts", "sim/bin/HuntWorker.ts"],
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

  const page = join(root, "server/enroll/page");
  const pageFiles = readdirSync(page).map((name) => ({
    path: join(folder, "page", name),
    contents: readFileSync(join(page, name)),
  }));
  mkdirSync(join(folder, "page"), { recursive: true });
  for (const { path, contents } of [...pageFiles, ...outputFiles]) {
    // Whole or not at all: the peers of another cluster may be starting from it.
    const unfinished = join(folder, `.${basename(path)}.${process.pid}`);
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  return join(folder, "custody.js");
};
