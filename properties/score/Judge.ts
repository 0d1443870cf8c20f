/** Runs seeds with and without mutants, each mutant in a process of its own. */
import { fork } from "node:child_process";
import { HEAP_FLAGS } from "../../sim/bin/Hunt.ts";
import { PROCESS_LOST } from "../../sim/run/ThrownOut.ts";
import { watch } from "./Guard.ts";
import type { Mutant } from "./Mutants.ts";
import { ENDLESS, type Ran, type Task, type Word } from "./Tasks.ts";

/** Seconds of processor for one seed, or for loading, after which a process is killed: no run comes near. */
const PATIENCE = 60;

/** A run with a mutant may have so many times the events of the run without, and so many more. */
const MOST_TIMES = 10;
const MOST_MORE = 20_000;

/** Of a process that was killed, and of one that ended while it was loaded. */
const KILLED = "killed";
const NOT_LOADED = "not loaded";

/** The number of no mutant: then every seed is run, whatever it breaks. */
const NO_MUTANT = -1;

/** What became of a mutant. */
export interface Judged {
  readonly mutant: Mutant;
  /** How many of the seeds it makes a difference in; the others are the same runs with it and are left out. */
  readonly reaching: number;
  /** In how many of those that ran something else was done, sent, written or answered. */
  readonly parting: number;
  /** Absent where it was not noticed. */
  readonly noticed: { readonly seed: number; readonly by: string } | undefined;
  /** The program ends while it is loaded: nothing of the simulator has noticed that. */
  readonly isLoaded: boolean;
}

interface Ended {
  readonly loaded: ReadonlyArray<number>;
  readonly ran: ReadonlyArray<Ran>;
  /** Why it ended before its tasks did. */
  readonly end: string | undefined;
}

/** Runs tasks in a process of its own, up to the first that breaks something. */
const runTasks = (program: string, mutant: number, tasks: ReadonlyArray<Task>): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = fork(program, [String(mutant)], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
      execArgv: [...HEAP_FLAGS],
    });
    let loaded: ReadonlyArray<number> | undefined;
    const ran: Array<Ran> = [];
    const guard = watch(child, PATIENCE);
    child.on("message", (word: Word) => {
      guard.heard();
      if ("ran" in word) ran.push(word.ran);
      else {
        loaded = word.loaded;
        child.send(tasks, () => undefined);
      }
    });
    child.on("error", reject);
    child.on("exit", () => {
      const isKilled = guard.end();
      const isFound = mutant !== NO_MUTANT && ran.at(-1)?.broke !== undefined;
      const isDone = ran.length === tasks.length || isFound;
      const lost = isKilled ? KILLED : PROCESS_LOST;
      resolve({ loaded: loaded ?? [], ran, end: loaded === undefined ? NOT_LOADED : isDone ? undefined : lost });
    });
  });

/** What the seeds are without any mutant. */
export interface Baseline {
  readonly runs: ReadonlyArray<Ran>;
  /** Seeds that break something anyway, and can judge nothing. */
  readonly broken: ReadonlyArray<Ran>;
  /** Mutants that make a difference while the program is loaded, and so in every seed. */
  readonly always: ReadonlySet<number>;
}

/** Runs each seed without a mutant. A process that ends is told as a reason. */
export const runBaseline = async (program: string, seeds: number): Promise<Baseline | string> => {
  const tasks = Array.from({ length: seeds }, (_, index) => ({ seed: index + 1, mostEvents: Number.MAX_SAFE_INTEGER }));
  const { loaded, ran, end } = await runTasks(program, NO_MUTANT, tasks);
  if (end !== undefined) return `without any mutant the process ended after ${ran.length} seeds: ${end}`;
  return {
    runs: ran.filter(({ broke }) => broke === undefined),
    broken: ran.filter(({ broke }) => broke !== undefined),
    always: new Set(loaded),
  };
};

const judge = async (program: string, { runs, always }: Baseline, mutant: Mutant, number: number): Promise<Judged> => {
  const without = runs.filter(({ reached }) => always.has(number) || reached.includes(number));
  const tasks = without.map(({ seed, events }) => ({ seed, mostEvents: events * MOST_TIMES + MOST_MORE }));
  const reaching = tasks.length;
  if (reaching === 0) return { mutant, reaching, parting: 0, noticed: undefined, isLoaded: true };
  const { ran, end } = await runTasks(program, number, tasks);
  const last = ran.at(-1);
  const parting = ran.filter(({ course }, index) => course !== without[index]?.course).length;
  if (end === NOT_LOADED) return { mutant, reaching, parting, noticed: undefined, isLoaded: false };
  if (end !== undefined) {
    const seed = tasks[ran.length]?.seed ?? 0;
    return { mutant, reaching, parting, noticed: { seed, by: end === KILLED ? ENDLESS : end }, isLoaded: true };
  }
  const noticed = last?.broke === undefined ? undefined : { seed: last.seed, by: last.broke };
  return { mutant, reaching, parting, noticed, isLoaded: true };
};

/** Judges all mutants of a program, in several processes; they come in the order in which they are done. */
export const judgeAll = async (
  program: string,
  baseline: Baseline,
  mutants: ReadonlyArray<Mutant>,
  jobs: number,
  progress: (judged: Judged, done: number) => void,
): Promise<ReadonlyArray<Judged>> => {
  const judged: Array<Judged> = [];
  let next = 0;
  const runLane = async (): Promise<void> => {
    for (let number = next++; number < mutants.length; number = next++) {
      const mutant = mutants[number];
      if (mutant === undefined) return;
      const each = await judge(program, baseline, mutant, number);
      judged.push(each);
      progress(each, judged.length);
    }
  };
  await Promise.all(Array.from({ length: jobs }, runLane));
  return judged;
};
