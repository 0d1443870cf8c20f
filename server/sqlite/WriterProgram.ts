/** The program of the writing thread, as this program itself came: built, or from source. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { WriterOptions } from "./WriterMessage.ts";

/**
 * One script of WriterThread.ts and all it needs, for a thread that loads no TypeScript. Modules loaded one by one
 * would take eight times as much of a processor, for every store that is opened. The packages with a native part
 * are required from where this file lies, wherever the process runs.
 */
const bundled = (): string => {
  const require = createRequire(import.meta.url);
  const { buildSync }: typeof import("esbuild") = require("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL("./WriterThread.ts", import.meta.url))],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["better-sqlite3"],
    logLevel: "warning",
  });
  const here = `require("node:module").createRequire(${JSON.stringify(fileURLToPath(import.meta.url))})`;
  return `((require) => { ${outputFiles[0]?.text}\n})(${here});`;
};

let script: string | undefined;

/** Starts the thread. Built code is loaded as it is; from source the script is made once in a process. */
export const startWriterThread = (workerData: WriterOptions): Worker => {
  const options = { workerData, execArgv: [], name: "store writer" };
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./WriterThread.js", import.meta.url), options);
  script ??= bundled();
  return new Worker(script, { ...options, eval: true });
};
