/** What a named schedule is, and the parts that several families of them use. */
import type { Choices } from "../base/Choices.ts";
import type { FaultName } from "../faults/Faults.ts";
import type { NetworkPlan, Plan, WorkloadPlan } from "../base/Plan.ts";
import type { Nemesis } from "../world/World.ts";

/** The part of a plan that a schedule decides; everything else comes from the base. */
export type Draft = Partial<Omit<Plan, "workload">> & { readonly workload?: Partial<WorkloadPlan> };

/** Sizes of a cluster: the number of members in a quiet run, and those that are drawn, each as likely. */
export interface Sizes {
  readonly quiet: number;
  readonly drawn: readonly [number, ...ReadonlyArray<number>];
}

export const ANY_SIZE: Sizes = { quiet: 3, drawn: [1, 2, 3, 3, 3, 5] };
/** Sizes with somebody else to fail. */
export const CLUSTER: Sizes = { quiet: 3, drawn: [3, 3, 5] };

/** How often the default mix draws a schedule that says nothing of it. */
export const USUAL_SHARE = 100;

/**
 * Situations that a schedule exists to reach, by the names that runs count them under, each with a number: at least
 * one run in so many reaches it. The real rate is some three times that, so that luck alone turns no hunt red.
 */
export type Marks = Readonly<Record<string, number>>;

export interface Schedule {
  readonly marks: Marks;
  /** How often the default mix draws it, beside the others; less than {@link USUAL_SHARE} where its runs are long. */
  readonly share?: number;
  /** Its point needs the service's capacities: none is drawn smaller. */
  readonly isRoomy?: boolean;
  /** Its point needs rows with seals: no run of it is of the tier fast, unless that is asked for. */
  readonly isSealed?: boolean;
  /** By default any. */
  readonly sizes?: Sizes;
  readonly plan: (choices: Choices) => Draft;
  /** Beside the plan that was just drawn. */
  readonly nemeses?: (choices: Choices, draft: Draft) => ReadonlyArray<Nemesis>;
}

/** A family of schedules, by their names. */
export interface Family {
  readonly [name: string]: Schedule;
}

/** Slow enough that a token may expire between two messages. */
export const SLUGGISH: NetworkPlan = { leastDelay: 500, mostDelay: 250_000, loss: 0, duplication: 0 };

/** What callers do where enrollment is what matters. */
export const HOLDERS: Partial<WorkloadPlan> = { fresh: 10, conflict: 4, version: 4, invite: 25, finish: 60 };

export const BUSY_FAULTS: ReadonlyArray<FaultName> = [
  "crash during a flush",
  "crash during a flush, bytes visible",
  "crash between actions",
  "power loss during a flush",
];

/** Enough events to take every place there is for a preparation. */
export const STORM_STEPS = 8_000;

/** These faults and no others, each as often as the next. */
export const weights = (...names: ReadonlyArray<FaultName>): ReadonlyMap<FaultName, number> =>
  new Map(names.map((name) => [name, 10]));

/** A field of a plan, or something like it, that is drawn from some values. */
export const among = (
  choices: Choices,
  field: string,
  quiet: number,
  ...values: readonly [number, ...ReadonlyArray<number>]
): number => choices.plan(field).oneOf("value", quiet, values);

/** Whether something that is decided before a run begins happens in it, with so many chances in a thousand. */
export const happens = (choices: Choices, what: string, perMille: number): boolean =>
  choices.plan(what).chance("happens", perMille);
