/** What a bearer token was found to be. */
import type { ActorClaims } from "./ActorClaims.ts";

/**
 * What the token port found out about a bearer token before the event entered.
 * `unavailable` means the keys could not be had just now: nothing may be concluded from it.
 */
export type ActorCheck =
  | { readonly _tag: "Verified"; readonly claims: ActorClaims }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Unavailable" };
