/** What a run or a hunt tells: plain facts, for people and for JSON. */
import { Census } from "../base/Census.ts";
import { Mixer } from "../base/Mixer.ts";
import type { RunResult } from "../run/Simulation.ts";
import type { Tier } from "../base/Tier.ts";
import { Tallies, type Tally, tallyLines } from "./Tallies.ts";

/** A run as it is sent between threads and printed. */
export interface RunReport {
  readonly seed: number;
  readonly schedule: string;
  readonly peers: number;
  readonly mode: string;
  readonly crypto: Tier;
  readonly hash: string;
  readonly events: number;
  readonly faults: ReadonlyArray<readonly [string, number]>;
  readonly marks: ReadonlyArray<readonly [string, number]>;
  readonly violation: { readonly id: string; readonly facts: readonly [string, string] } | undefined;
  /** The command that runs it again; what comes before its word `sim` depends on where it is run. */
  readonly replay: string;
}

/** @param given the options that were not left to the seed */
export const reportOf = (
  { seed, plan, hash, events, faults, marks, violation }: RunResult,
  given: {
    readonly steps: number | undefined;
    readonly crypto: Tier | undefined;
    readonly bug?: string | undefined;
  },
): RunReport => ({
  seed,
  schedule: plan.schedule,
  peers: plan.peers,
  mode: plan.mode,
  crypto: plan.crypto,
  hash,
  events,
  faults,
  marks,
  violation: violation && { id: violation.id, facts: violation.facts },
  replay: [
    `custody sim run --seed ${seed} --schedule ${plan.schedule} --peers ${plan.peers}`,
    plan.mode === "within" ? "" : ` --mode ${plan.mode}`,
    given.steps === undefined ? "" : ` --steps ${given.steps}`,
    given.crypto === undefined ? "" : ` --crypto ${given.crypto}`,
    given.bug === undefined ? "" : ` --bug ${given.bug}`,
  ].join(""),
});

/** The result of a hunt, as far as it can be added up. */
export interface HuntSums {
  readonly seeds: number;
  /** How many of them were of a tier that is not fast. */
  readonly codecSeeds: number;
  readonly realSeeds: number;
  readonly events: number;
  readonly faults: Iterable<readonly [string, number]>;
  readonly marks: Iterable<readonly [string, number]>;
  readonly tallies: Iterable<Tally>;
  readonly failures: ReadonlyArray<RunReport>;
  readonly hashSums: readonly [number, number];
}

/** The sum of many runs. */
export class HuntReport {
  readonly faults = new Census();
  readonly marks = new Census();
  readonly tallies = new Tallies();
  readonly failures: Array<RunReport> = [];
  seeds = 0;
  codecSeeds = 0;
  realSeeds = 0;
  events = 0;
  /** Order must not matter: runs of several processes come in as they end, and hunts of several machines are added up. */
  #first = 0;
  #second = 0;
  readonly #mixer = new Mixer();

  add(run: RunReport): void {
    this.seeds += 1;
    if (run.crypto === "codec") this.codecSeeds += 1;
    if (run.crypto === "real") this.realSeeds += 1;
    this.events += run.events;
    this.faults.addAll(run.faults);
    this.marks.addAll(run.marks);
    this.tallies.add(run);
    if (run.violation !== undefined) this.failures.push(run);
    this.#mixer.reset(run.seed | 0);
    this.#mixer.text(run.hash);
    this.#first = (this.#first + this.#mixer.first) | 0;
    this.#second = (this.#second + this.#mixer.second) | 0;
  }

  /** Adds what another hunt did. */
  addAll(other: HuntSums): void {
    this.seeds += other.seeds;
    this.codecSeeds += other.codecSeeds;
    this.realSeeds += other.realSeeds;
    this.events += other.events;
    this.faults.addAll(other.faults);
    this.marks.addAll(other.marks);
    this.tallies.addAll(other.tallies);
    this.failures.push(...other.failures);
    this.#first = (this.#first + other.hashSums[0]) | 0;
    this.#second = (this.#second + other.hashSums[1]) | 0;
  }

  /** What the hash is made of: two sums over the runs, each of 32 bits. */
  get hashSums(): readonly [number, number] {
    return [this.#first, this.#second];
  }

  /** 16 hexadecimal characters over the hashes of all runs; equal for equal sets of seeds. */
  get hash(): string {
    this.#mixer.reset(this.#first);
    this.#mixer.word(this.#second);
    return this.#mixer.hash;
  }
}

/** How many seeds of which tier, for people. */
export const seedsText = ({
  seeds,
  codecSeeds,
  realSeeds,
}: Pick<HuntSums, "seeds" | "codecSeeds" | "realSeeds">): string =>
  `${seeds} seeds (${codecSeeds} with the codec, ${realSeeds} with all crypto)`;

/** A run that may have been reported elsewhere, with the command as it is called here. */
export const calledAs = (program: string, run: RunReport): RunReport => ({
  ...run,
  replay: `${program} ${run.replay.slice(run.replay.indexOf("sim run "))}`,
});

/** What a failing run broke, in a line. */
export const failedText = ({ seed, schedule, peers, violation }: RunReport): string =>
  `seed ${seed} (schedule ${schedule}, ${peers} peer${peers === 1 ? "" : "s"}) breaks ${violation?.id ?? "nothing"}`;

/** A failure in five lines. @param program how `custody` is called */
export const failureLines = (program: string, run: RunReport): ReadonlyArray<string> => {
  const { violation } = run;
  const { replay } = calledAs(program, run);
  return violation === undefined
    ? []
    : [
        failedText(run),
        `  fact: ${violation.facts[0]}`,
        `  fact: ${violation.facts[1]}`,
        `  replay: ${replay}`,
        `  with every event: ${replay} --trace`,
      ];
};

const table = (title: string, counts: ReadonlyArray<readonly [string, number]>): ReadonlyArray<string> =>
  counts.length === 0 ? [] : [title, ...counts.map(([name, count]) => `  ${String(count).padStart(9)}  ${name}`)];

/** The counts of a hunt: what was done and reached, and what each schedule came to. */
export const huntCountLines = ({ faults, marks, tallies }: HuntReport): ReadonlyArray<string> => [
  ...countLines({ faults: faults.entries(), marks: marks.entries() }),
  "runs of schedules, and how many met what each is for",
  ...tallyLines(tallies.entries()),
];

/** The counts of one run or of all. */
export const countLines = (report: {
  readonly faults: ReadonlyArray<readonly [string, number]>;
  readonly marks: ReadonlyArray<readonly [string, number]>;
}): ReadonlyArray<string> => [...table("faults injected", report.faults), ...table("situations reached", report.marks)];
