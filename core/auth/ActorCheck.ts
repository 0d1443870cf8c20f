/** The result of verifying a bearer token. */
import type { ActorClaims } from "./ActorClaims.ts";

/**
 * The token port's result for a bearer token, from before the event entered. `unavailable` means that the keys could
 * not be had just now: nothing may be concluded from it.
 */
export type ActorCheck =
  | { readonly _tag: "Verified"; readonly claims: ActorClaims }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Unavailable" };
