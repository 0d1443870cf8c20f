/** What a run may be told; everything else follows from the seed. */
import type { Mode } from "../base/Plan.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import type { Tier } from "../base/Tier.ts";

export interface RunOptions {
  readonly seed: number;
  readonly schedule?: ScheduleName | undefined;
  /** 1 to 32; drawn from 1, 2, 3, 3, 5 without. */
  readonly peers?: number | undefined;
  /** Events before healing. */
  readonly steps?: number | undefined;
  /** Within the fault budget without. */
  readonly mode?: Mode | undefined;
  /** How much is computed as on a real peer; the seed says without. */
  readonly crypto?: Tier | undefined;
  /** How many callers; the schedule says without. */
  readonly callers?: number | undefined;
}
