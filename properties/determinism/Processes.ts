/** The same seeds in several processes, of this Node and of another one where there is one. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { bundle } from "../../server/bin/bundle.mjs";
import type { SeedRange } from "../../sim/hunting/Seeds.ts";
import { type Difference, firstDifference } from "./Difference.ts";

/** Names the program of a second Node, of another major version. */
export const SECOND_NODE = "SECOND_NODE";

export interface Comparison {
  /** The programs that ran the seeds. */
  readonly nodes: ReadonlyArray<string>;
  readonly outcome: Difference | { readonly lines: number };
}

const start = (node: string, script: string, { first, last }: SeedRange, steps: number): ChildProcess =>
  spawn(node, [script, String(first), String(last), String(steps)], {
    stdio: ["ignore", "pipe", "inherit"],
  });

const output = (child: ChildProcess): AsyncIterable<Uint8Array> => {
  if (child.stdout === null) throw new TypeError("the output of a process is a pipe");
  return child.stdout;
};

/** The exit code, once the process has ended. */
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });

/**
 * Runs seeds twice with this Node and once with every other one, at the same time, and compares what the processes
 * tell. Rejects where a process cannot run them.
 */
export const compareProcesses = async (
  seeds: SeedRange,
  steps: number,
  others: ReadonlyArray<string>,
): Promise<Comparison> => {
  const nodes = [process.execPath, process.execPath, ...others];
  const script = join(bundle("determinism", ["properties/determinism/TellSeeds.ts"]), "TellSeeds.js");
  const children = nodes.map((node) => start(node, script, seeds, steps));
  const ends = Promise.all(children.map(ended));
  try {
    const outcome = await Promise.race([
      firstDifference(children.map(output)),
      ends.then((): Promise<never> => new Promise(() => undefined)),
    ]);
    if ("lines" in outcome) {
      const codes = await ends;
      const failed = codes.findIndex((code) => code !== 0);
      if (failed >= 0) throw new Error(`${nodes[failed]} ended with code ${codes[failed]}; see above`);
    }
    return { nodes, outcome };
  } finally {
    for (const child of children) child.kill();
  }
};

/** A comparison as lines for people. */
export const comparisonLines = ({ first, last }: SeedRange, { nodes, outcome }: Comparison): ReadonlyArray<string> => {
  if ("lines" in outcome)
    return [`seeds ${first}..${last}: ${outcome.lines} moments, the same in ${nodes.length} processes`];
  const { which, before, expected, found } = outcome;
  return [
    `seeds ${first}..${last} are not the same in every process; the first moment that differs`,
    `(seed, number in its run, hash over all before it and itself, what happened):`,
    `  before:  ${before ?? "nothing"}`,
    `  in one:  ${expected ?? "nothing more"}   (${nodes[0]})`,
    `  another: ${found ?? "nothing more"}   (${nodes[which]})`,
  ];
};
