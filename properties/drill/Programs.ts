/** Programs that the drill starts, to their end or beside it. None of them outlives it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface StartOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** All of standard input; closed at once when left out. */
  readonly input?: string;
  /** A file to which all that it prints is added. */
  readonly log?: string;
}

export interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Something did not go as it is documented. The message says what, for whoever runs the drill. */
export class Failed extends Error {}

/** Fails where this is not so. */
export const must: (isSo: boolean, otherwise: string) => asserts isSo = (isSo, otherwise) => {
  if (!isSo) throw new Failed(otherwise);
};

const LAST_CHARACTERS = 1_500;
/** Far more than any program here takes, also where other parts of `.ci/run` leave it a tenth of a processor. */
const PATIENCE_MILLIS = 600_000;

const alive = new Set<ChildProcess>();

const signalGroup = ({ pid }: ChildProcess, name: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // All of it has just ended by itself.
  }
};

/** Asks every program that still runs to end, and all that it has started. */
export const endAll = (): void => {
  for (const child of alive) signalGroup(child, "SIGTERM");
};

/** The environment of this process without what npm and shells set for other commands of ours. */
export const surroundings = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(?:custody_|npm_|init_cwd$|node_env$)/i.test(name) ? [] : [[name, value]],
    ),
  );

export class Program {
  readonly words: ReadonlyArray<string>;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #stdout = "";
  #stderr = "";

  /** Starts a program as the leader of a group of its own. */
  constructor(words: ReadonlyArray<string>, { cwd, env = {}, input = "", log }: StartOptions) {
    const [name = "", ...args] = words;
    this.words = words;
    const child = spawn(name, args, { cwd, env: { ...surroundings(), ...env }, stdio: "pipe", detached: true });
    alive.add(child);
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.#stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    if (log !== undefined)
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: string) => appendFileSync(log, text));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    this.#child = child;
    this.#closed = once(child, "close").finally(() => alive.delete(child));
    this.#closed.catch(() => undefined);
  }

  get text(): string {
    return `${this.#stdout}${this.#stderr}`;
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The same to all that it has started too. */
  signalAll(name: NodeJS.Signals): void {
    signalGroup(this.#child, name);
  }

  /** Resolves when it has ended and all that it printed is here. Rejects with {@link Failed} where it does not end. */
  async ended(millis = PATIENCE_MILLIS): Promise<Ended> {
    const patience = new AbortController();
    const given = sleep(millis, "late", { signal: patience.signal }).catch(() => "stopped waiting");
    const which = await Promise.race([this.#closed.then(() => "ended"), given]);
    patience.abort();
    must(which === "ended", `\`${this.words.join(" ")}\` does not end within ${millis / 1000} s: ${this.lastWords}`);
    const { exitCode, signalCode } = this.#child;
    return { code: exitCode ?? signalCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Resolves with what is found in its output, once it is there. */
  async said<A>(find: (text: string) => A | undefined): Promise<A> {
    const until = performance.now() + PATIENCE_MILLIS;
    for (;;) {
      const found = find(this.text);
      if (found !== undefined) return found;
      must(
        !this.isOver && performance.now() < until,
        `\`${this.words.join(" ")}\` ${this.isOver ? "ended" : "does not come so far"}: ${this.lastWords}`,
      );
      await sleep(20);
    }
  }

  get lastWords(): string {
    return this.text.slice(-LAST_CHARACTERS);
  }
}

/** Runs a program to its end. */
export const run = (words: ReadonlyArray<string>, options: StartOptions): Promise<Ended> =>
  new Program(words, options).ended();

/** The same for one that must end with 0; returns what it wrote to standard output. */
export const mustRun = async (words: ReadonlyArray<string>, options: StartOptions): Promise<string> => {
  const { code, stdout, stderr } = await run(words, options);
  must(code === 0, `\`${words.join(" ")}\` ended with ${code}: ${`${stdout}${stderr}`.slice(-LAST_CHARACTERS)}`);
  return stdout;
};

/** Asks until the answer is yes. */
export const until = async (what: string, question: () => Promise<boolean> | boolean): Promise<void> => {
  const end = performance.now() + PATIENCE_MILLIS;
  while (!(await question())) {
    must(performance.now() < end, `${what}: not within ${PATIENCE_MILLIS / 1000} s`);
    await sleep(25);
  }
};
