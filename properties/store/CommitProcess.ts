/** Starts and kills processes that run CommitLoop.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { CommitReport } from "./CommitReport.ts";

/** tsx's CommonJS hook: a third less to load than its command. */
const loader = createRequire(import.meta.url).resolve("tsx/cjs");
const script = fileURLToPath(new URL("./CommitLoop.ts", import.meta.url));
const code = `require(${JSON.stringify(loader)}); require(${JSON.stringify(script)});`;

/** A process that is loaded and waits to be let go. */
export class CommitProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterableIterator<string>;
  readonly #exited: Promise<unknown>;

  /** Will make `count` transactions in each directory. `tracer` is a command that runs another, with its options. */
  constructor(directories: ReadonlyArray<string>, count: number, tracer: ReadonlyArray<string> = []) {
    const [program = process.execPath, ...args] = [...tracer, process.execPath, "--eval", code, script];
    this.#child = spawn(program, [...args, String(count), ...directories], { stdio: ["pipe", "pipe", "inherit"] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("the child has no standard output");
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    this.#exited = once(this.#child, "exit");
  }

  letGo(): void {
    this.#child.stdin?.write("\n");
  }

  /** What it says next, or undefined when it has ended. */
  async next(): Promise<CommitReport | undefined> {
    const line = await this.#lines.next();
    return line.done === true ? undefined : JSON.parse(line.value);
  }

  /** SIGKILL; gives everything said before the end that was not read yet. */
  async kill(): Promise<ReadonlyArray<CommitReport>> {
    this.#child.kill("SIGKILL");
    await this.#exited;
    const rest: Array<CommitReport> = [];
    for (let report = await this.next(); report !== undefined; report = await this.next()) rest.push(report);
    return rest;
  }

  /** Waits for its own end; gives the exit code, or null when a signal ended it. */
  async end(): Promise<number | null> {
    await this.#exited;
    return this.#child.exitCode;
  }
}
