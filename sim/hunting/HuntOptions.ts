/** The options that a hunt gives its runs. */
import type { Mode } from "../base/Plan.ts";
import type { Tier } from "../base/Tier.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";

/** What every run of a hunt has in common. */
export interface HuntOptions {
  readonly schedule: ScheduleName | undefined;
  readonly peers: number | undefined;
  readonly mode: Mode | undefined;
  readonly steps: number | undefined;
  readonly crypto: Tier | undefined;
  /** A planted bug, by name. */
  readonly bug: string | undefined;
}

/** Whether no option takes anything from the runs of its schedules. */
export const isWhole = ({ peers, mode, steps, bug }: HuntOptions): boolean =>
  (mode ?? "within") === "within" && peers === undefined && steps === undefined && bug === undefined;
