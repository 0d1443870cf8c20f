/** What a request is judged with: one peer's rows, its settings, and what it knows of the others. */
import type { StepContext } from "./Event.ts";
import type { Slice } from "./Module.ts";
import type { Membership } from "./Topology.ts";

export interface EvaluationContext {
  readonly context: Pick<
    StepContext,
    "now" | "asBefore" | "view" | "crypto" | "providers" | "ceremony" | "keyCrypto" | "settings"
  >;
  readonly membership: Membership;
  /** Whether every member, in member order, is in the pinned incarnation. */
  isCurrent(incarnations: ReadonlyArray<number>): boolean;
  /** Whether an undecided proposal holds a lock of this name here. */
  isLocked(lock: string): boolean;
  /** What a module remembers here, as this step has it by now: rows are judged as they were before. */
  slice<S extends object>(slice: Slice<S>): S;
}
