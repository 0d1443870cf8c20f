/** A process that a test or the bench has started: what it prints, and how it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** All of standard input; closed at once when left out. */
  readonly input?: string;
}

/** The environment of this process, without variables that a shell sets for other commands of ours. */
export const surroundings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CUSTODY_")));

export class Running {
  readonly child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #isOver = false;
  readonly #waiting: Array<() => void> = [];
  stdout = "";
  stderr = "";
  /** Both, as they came. */
  text = "";

  /** Starts this Node with these arguments. */
  constructor(args: ReadonlyArray<string>, { cwd, env = {}, input = "" }: RunOptions = {}) {
    const child = spawn(process.execPath, args, { cwd, env: { ...surroundings(), ...env }, stdio: "pipe" });
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (chunk: string) => {
        this[name] += chunk;
        this.text += chunk;
        this.#wake();
      });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    this.child = child;
    this.#closed = once(child, "close").finally(() => {
      this.#isOver = true;
      this.#wake();
    });
    // A caller that waits for its end is told why it never began.
    this.#closed.catch(() => undefined);
  }

  /** Resolves with what is found in its output, once it is there. */
  async until<A>(find: (text: string) => A | undefined): Promise<A> {
    for (;;) {
      const found = find(this.text);
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`it ended: ${this.text}`);
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }

  /** The address of a program that prints only the port on which it listens. */
  async listening(): Promise<string> {
    return `http://127.0.0.1:${await this.until((text) => /^(\d+)\n/.exec(text)?.[1])}`;
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Resolves with its exit code, or the signal that killed it, when all of its output is here. */
  async ended(): Promise<number | NodeJS.Signals | null> {
    await this.#closed;
    return this.child.exitCode ?? this.child.signalCode;
  }

  /** Resolves when it has ended by this signal, or had before. */
  stop(name: NodeJS.Signals = "SIGTERM"): Promise<number | NodeJS.Signals | null> {
    this.signal(name);
    return this.ended();
  }
}
