/** Where a request is judged: what one peer has stored, is configured with, and knows of the others. */
import type { Digest } from "../Digest.ts";
import type { StepContext } from "../Event.ts";
import type { Membership } from "../protocol/Topology.ts";

export interface Place {
  readonly context: Pick<StepContext, "now" | "view" | "crypto" | "providers" | "ceremony" | "settings">;
  readonly membership: Membership;
  /** Whether every member, in member order, is in the life that is pinned. */
  isCurrent(incarnations: ReadonlyArray<number>): boolean;
  /** Whether a response to a session is reserved here and not settled. */
  isReserved(registrationId: Digest): boolean;
}
