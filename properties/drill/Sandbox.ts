/** A folder in which commands of a page are run one after the other, as one shell session would. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Page } from "./Documented.ts";
import { matched } from "./Documented.ts";
import { type Ended, must, Program, run } from "./Programs.ts";
import { reasons } from "./Reasons.ts";

type Say = (line: string) => void;

interface Place {
  /** Commands are run in it; made where it is missing. */
  readonly folder: string;
  /** Before the programs of this machine. */
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the page has, and what stands for it here. */
  readonly instead?: ReadonlyArray<readonly [string, string]>;
}

export class Sandbox {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #instead: ReadonlyArray<readonly [string, string]>;
  readonly #beside: Array<Program> = [];

  /** @param memory the folder of the file that keeps the session's variables */
  constructor({ folder, path, env = {}, instead = [] }: Place, memory: string) {
    mkdirSync(folder, { recursive: true });
    mkdirSync(memory, { recursive: true });
    this.folder = folder;
    const remembered = join(memory, "variables");
    writeFileSync(remembered, "");
    this.#env = {
      ...env,
      ...(path !== undefined && { PATH: `${path}:${process.env["PATH"]}` }),
      REMEMBERED: remembered,
      LOGS: memory,
    };
    this.#instead = instead;
  }

  /** The page's command as it is run here. */
  here(command: string): string {
    return this.#instead.reduce((text, [there, here]) => text.replaceAll(there, here), command);
  }

  /** Runs a command to its end, with the variables of those before it. */
  run(command: string, input = ""): Promise<Ended> {
    const script = `set -a\n. "$REMEMBERED"\n${command}\nended=$?\nexport -p > "$REMEMBERED"\nexit $ended`;
    return run(["sh", "-c", script], { cwd: this.folder, env: this.#env, input });
  }

  /** Starts a command that goes on, and waits until it has said this. */
  async start(command: string, says: RegExp): Promise<Program> {
    const script = `. "$REMEMBERED"\nexec ${command}`;
    const log = join(this.#env["LOGS"] ?? "", "beside.log");
    const program = new Program(["sh", "-c", script], { cwd: this.folder, env: this.#env, log });
    this.#beside.push(program);
    await program.said((text) => says.exec(text) ?? undefined);
    return program;
  }

  /** Ends what still goes on. */
  async close(by: NodeJS.Signals = "SIGTERM"): Promise<void> {
    for (const program of this.#beside.splice(0).toReversed()) {
      if (!program.isOver) program.signalAll(by);
      await program.ended();
    }
  }
}

/** A world of a page has a sandbox for its commands. */
export interface World {
  readonly sandbox: Sandbox;
}

const assertPrints = (command: string, pattern: RegExp | undefined, { stdout, stderr }: Ended): void => {
  const printed = `${stdout}${stderr}`;
  const isThere = pattern === undefined || pattern.test(printed);
  must(isThere, `\`${command}\` does not print ${pattern}: ${printed.slice(-1_500)}`);
};

const perform = async <W extends World>(command: string, entry: Entry<W>, world: W): Promise<void> => {
  const { sandbox } = world;
  await entry.before?.(world);
  const text = sandbox.here(entry.as === undefined ? command : entry.as.run(command, world));
  if (entry.beside !== undefined) {
    const { text: printed } = await sandbox.start(text, entry.beside);
    return entry.after?.(world, printed, text);
  }
  const ended = await sandbox.run(text, entry.input?.(world));
  const printed = `${ended.stdout}${ended.stderr}`;
  must(ended.code === (entry.code ?? 0), `\`${text}\` ended with ${ended.code}: ${printed.slice(-1_500)}`);
  assertPrints(text, entry.prints, ended);
  if (entry.again !== undefined) assertPrints(text, entry.again, await sandbox.run(text));
  await entry.after?.(world, printed, text);
};

/** Why an entry is not run on this machine. */
const whyNot = <W>({ not, needs }: Entry<W>): string | undefined => {
  if (not !== undefined) return reasons[not];
  const isHere = needs === undefined || spawnSync("sh", ["-c", `command -v ${needs}`]).status === 0;
  return isHere ? undefined : `${needs} is not installed`;
};

/** Runs a page's commands in its order, and says what was run otherwise or not at all. */
export const runPage = async <W extends World>({ file, entries }: Page<W>, world: W, say: Say): Promise<void> => {
  const { pairs, unused } = matched({ entries }, readFileSync(file, "utf8"));
  must(unused.length === 0, `${file} has no command left for ${unused.join(", ")}`);
  const began = performance.now();
  for (const { command, entry } of pairs) {
    const where = `${file}:${command.line}`;
    const why = whyNot(entry);
    if (why !== undefined) {
      say(`${where}: not run, ${why}: ${command.text}`);
      continue;
    }
    try {
      await perform(command.text, entry, world);
    } catch (fault) {
      if (fault instanceof Error) fault.message = `${where}: ${fault.message}`;
      throw fault;
    }
    if (entry.as !== undefined) say(`${where}: run otherwise, ${entry.as.because}: ${command.text}`);
  }
  const ran = pairs.filter(({ entry }) => whyNot(entry) === undefined).length;
  say(`${file}: ${ran} commands run, ${((performance.now() - began) / 1_000).toFixed(1)} s`);
};
