/**
 * What a run decided, written down: enough to run it again exactly, without its
 * seed's generator. A full tape has every unit; a sparse one has those that
 * deviate from the quiet run, and all else is quiet.
 */
import type { Mode, Plan } from "../base/Plan.ts";
import { Choices } from "../base/Choices.ts";
import { planOf } from "../run/Planning.ts";
import type { RunOptions } from "../run/RunOptions.ts";
import { scheduleOf } from "../schedules/Mix.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import type { RunResult } from "../run/Simulation.ts";
import type { Tier } from "../base/Tier.ts";

/** The lawful values of a draw: a range of whole numbers; yes or no and names have none. */
export type Bounds = readonly [floor: number, ceiling: number] | undefined;

export type Value = number | boolean | string;

export interface TapeDraw {
  readonly label: string;
  readonly bounds: Bounds;
  readonly value: Value;
}

/** A unit of choice: its key is its stream and its position there, from 1. */
export interface TapeUnit {
  readonly stream: string;
  readonly ordinal: number;
  readonly draws: ReadonlyArray<TapeDraw>;
}

/** A draw whose quiet value is known, because the code has just named it. */
export interface RecordedDraw extends TapeDraw {
  readonly quiet: Value;
}

export interface RecordedUnit extends TapeUnit {
  readonly draws: ReadonlyArray<RecordedDraw>;
}

/** The options of a run with nothing left to the seed, and the planted bug it had, by name. */
export interface TapeOptions extends RunOptions {
  readonly schedule: ScheduleName;
  readonly peers: number;
  readonly mode: Mode;
  readonly steps: number;
  readonly crypto: Tier;
  readonly callers: number;
  readonly bug: string | undefined;
}

/** A plan as JSON has it. */
export type PlanRecord = {
  readonly [field: string]: number | string | boolean | { readonly [name: string]: number | boolean };
};

export interface TapeEnd {
  readonly hash: string;
  readonly events: number;
  readonly violation: { readonly id: string; readonly facts: readonly [string, string] } | undefined;
}

export interface Tape {
  readonly sparse: boolean;
  /** The source it was recorded with, as the program that recorded it names it. */
  readonly commit: string;
  readonly options: TapeOptions;
  readonly plan: PlanRecord;
  readonly units: ReadonlyArray<TapeUnit>;
  readonly end: TapeEnd;
}

export const unitName = ({ stream, ordinal }: { readonly stream: string; readonly ordinal: number }): string =>
  `${stream} #${ordinal}`;

/** A unit with at least one draw that is not quiet. */
export const deviates = ({ draws }: RecordedUnit): boolean => draws.some(({ value, quiet }) => value !== quiet);

/** The options of a run, including those that the seed would draw. */
export const tapeOptions = (options: RunOptions, bug?: string): TapeOptions => {
  const { seed } = options;
  const schedule = scheduleOf(options);
  const { peers, mode, steps, crypto, workload } = planOf(options, new Choices(seed)).plan;
  return { seed, schedule, peers, mode, steps, crypto, callers: workload.callers, bug };
};

export const planRecord = (plan: Plan): PlanRecord =>
  Object.fromEntries(
    Object.entries(plan).map(([field, value]) => [field, value instanceof Map ? Object.fromEntries(value) : value]),
  );

export const endOf = ({ hash, events, violation }: RunResult): TapeEnd => ({
  hash,
  events,
  violation: violation && { id: violation.id, facts: violation.facts },
});
