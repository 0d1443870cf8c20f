/** Starts and kills processes that run CommitLoop.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bundle } from "../../server/bin/bundle.mjs";
import type { CommitReport } from "./CommitReport.ts";

/** Made once in a process of tests. The writing thread's file is beside it, where a store looks for it. */
const folder = bundle("commits", ["properties/store/CommitLoop.ts", "server/sqlite/WriterThread.ts"]);

/** A process that is loaded and waits for its go. */
export class CommitProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterableIterator<string>;
  readonly #exited: Promise<unknown>;

  /** Will make `count` transactions in each directory. `tracer` is a command that runs another, with its options. */
  constructor(directories: ReadonlyArray<string>, count: number, tracer: ReadonlyArray<string> = []) {
    const [program = process.execPath, ...args] = [...tracer, process.execPath, join(folder, "CommitLoop.js")];
    this.#child = spawn(program, [...args, String(count), ...directories], { stdio: ["pipe", "pipe", "inherit"] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("the child has no standard output");
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    this.#exited = once(this.#child, "exit");
  }

  letGo(): void {
    this.#child.stdin?.write("\n");
  }

  /** Its next report, or undefined when it has ended. */
  async next(): Promise<CommitReport | undefined> {
    const line = await this.#lines.next();
    return line.done === true ? undefined : JSON.parse(line.value);
  }

  /** SIGKILL; gives all reports before the end that were not read yet. */
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
