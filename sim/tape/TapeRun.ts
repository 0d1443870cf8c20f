/** Runs that are written down, and runs that follow a tape. */
import { Choices, type Decider } from "../base/Choices.ts";
import { plantedBugNamed } from "../bugs/PlantedBugs.ts";
import { planOf } from "../run/Planning.ts";
import { type RunResult, runSeed } from "../run/Simulation.ts";
import type { Tampering } from "../world/Tampering.ts";
import type { WorldPorts } from "../world/World.ts";
import { endOf, planRecord, type PlanRecord, type RecordedUnit, type Tape, type TapeOptions } from "./Tape.ts";
import { TapeMismatch, TapePlayer } from "./TapePlayer.ts";
import { TapeRecorder } from "./TapeRecorder.ts";

/** How a run is observed, and the backend of what is computed for real in it. */
export interface Onlookers extends Pick<WorldPorts, "observer" | "backend"> {
  readonly line?: ((line: string) => void) | undefined;
  /** Is told of every unit at its first draw. */
  readonly began?: ((unit: RecordedUnit) => void) | undefined;
}

export interface Recording {
  readonly options: TapeOptions;
  readonly result: RunResult;
  /** Every unit that was drawn from, in order. */
  readonly units: ReadonlyArray<RecordedUnit>;
  /** Those that are not quiet. */
  readonly deviations: ReadonlyArray<RecordedUnit>;
}

const tamperingOf = ({ bug }: TapeOptions): Tampering | undefined =>
  bug === undefined ? undefined : plantedBugNamed(bug)?.tampering();

/**
 * Runs a seed with a recorder.
 *
 * @param decider has the last word on every draw; without it the seed has
 * @throws {Interruption} of the decider
 */
export const record = (options: TapeOptions, onlookers: Onlookers = {}, decider?: Decider): Recording => {
  const { began, ...hooks } = onlookers;
  const recorder = new TapeRecorder(decider, began);
  const result = runSeed(options, { ...hooks, tampering: tamperingOf(options), decider: recorder });
  return { options, result, units: recorder.units, deviations: recorder.deviations };
};

/** The tape of a run: all of it, or its deviations only. */
export const tapeOf = (
  { options, result, units, deviations }: Recording,
  { commit, sparse }: Pick<Tape, "commit" | "sparse">,
): Tape => ({
  sparse,
  commit,
  options,
  plan: planRecord(result.plan),
  units: sparse ? deviations : units,
  end: endOf(result),
});

const same = (left: unknown, right: unknown): boolean =>
  typeof left === "object" && typeof right === "object" && left !== null && right !== null
    ? Object.entries(left).every(([name, value]) =>
        same(value, Object.entries(right).find(([each]) => each === name)?.[1]),
      )
    : left === right;

const assertPlan = (tape: PlanRecord, code: PlanRecord): void => {
  for (const [field, value] of Object.entries(tape))
    if (!same(value, code[field]))
      throw new TapeMismatch(
        `plan field "${field}": the tape has ${JSON.stringify(value)}, the code has ${JSON.stringify(code[field])}`,
      );
};

/**
 * Runs a tape again. The hash of the result is the caller's to compare, because a
 * tape may be played on purpose on code that has changed where nothing is drawn.
 *
 * @throws {TapeMismatch} at the first draw that is not on the tape as the code makes it
 */
export const play = (tape: Tape, onlookers: Onlookers = {}): Recording => {
  const { options } = tape;
  assertPlan(tape.plan, planRecord(planOf(options, new Choices(options.seed, new TapePlayer(tape))).plan));
  const player = new TapePlayer(tape);
  const recording = record(options, onlookers, player);
  player.assertPlayed();
  return recording;
};

/**
 * Runs a tape again and compares its end with the tape's.
 *
 * @throws {TapeMismatch} also where the trace differs in the end
 */
export const replayExactly = (tape: Tape, onlookers: Onlookers = {}): Recording => {
  const recording = play(tape, onlookers);
  const { hash } = recording.result;
  if (hash !== tape.end.hash)
    throw new TapeMismatch(
      `every draw is as on the tape, but the run is not: its trace hash is ${hash}, the tape's ${tape.end.hash}; the code has changed`,
    );
  return recording;
};
