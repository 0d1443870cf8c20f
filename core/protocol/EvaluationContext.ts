/** Where a request is judged: what one peer has stored, is configured with, and knows of the others. */
import type { StepContext } from "./Event.ts";
import type { Membership } from "./Topology.ts";

export interface EvaluationContext {
  readonly context: Pick<StepContext, "now" | "asBefore" | "view" | "crypto" | "providers" | "ceremony" | "settings">;
  readonly membership: Membership;
  /** Whether every member, in member order, is in the incarnation that is pinned. */
  isCurrent(incarnations: ReadonlyArray<number>): boolean;
  /** Whether something undecided holds a lock of this name here. */
  isLocked(lock: string): boolean;
}
