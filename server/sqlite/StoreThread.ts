/** The threads of the store, started from their programs as this program itself came: built, or from source. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { CopyOptions } from "./CopyMessage.ts";
import type { WriterOptions } from "./WriterMessage.ts";

/** What each thread is told when it starts. */
interface Told {
  readonly WriterThread: WriterOptions;
  readonly CopyThread: CopyOptions;
}

const isSource = import.meta.url.endsWith(".ts");

const sources: { readonly [N in keyof Told]: URL } = {
  WriterThread: new URL("./WriterThread.ts", import.meta.url),
  CopyThread: new URL("./CopyThread.ts", import.meta.url),
};

/**
 * One script of a program and all it needs, for a thread that loads no TypeScript. Modules loaded one by one
 * would take eight times as much of a processor, for every store that is opened. The packages with a native part
 * are required from where this file lies, wherever the process runs.
 */
const bundled = (program: URL): string => {
  const require = createRequire(import.meta.url);
  const { buildSync }: typeof import("esbuild") = require("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(program)],
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

const scripts = new Map<URL, string>();

/** Starts a thread. Built code is loaded as it is; from source a script is made once in a process. */
export const startStoreThread = <N extends keyof Told>(name: N, workerData: Told[N]): Worker => {
  const source = sources[name];
  const options = { workerData, execArgv: [], name };
  if (!isSource) return new Worker(new URL(source.href.replace(/\.ts$/, ".js")), options);
  const script = scripts.get(source) ?? bundled(source);
  scripts.set(source, script);
  return new Worker(script, { ...options, eval: true });
};
