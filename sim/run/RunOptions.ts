/** The options of a run; everything else follows from the seed. */
import type { Mode } from "../base/Plan.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import type { Tier } from "../base/Tier.ts";

export interface RunOptions {
  readonly seed: number;
  readonly schedule?: ScheduleName | undefined;
  /** 1 to 32; by default drawn from 1, 2, 3, 3, 5. */
  readonly peers?: number | undefined;
  /** Events before healing. */
  readonly steps?: number | undefined;
  /** By default within the fault budget. */
  readonly mode?: Mode | undefined;
  /** How much is computed as on a real peer; by default the seed decides. */
  readonly crypto?: Tier | undefined;
  /** How many callers; by default the schedule decides. */
  readonly callers?: number | undefined;
}
