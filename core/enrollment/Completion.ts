/** Responses to sessions, and which one has completed a session: known for ever, with or without the session itself. */
import type { Digest } from "../Digest.ts";
import type { Effects } from "../protocol/Proposal.ts";
import type { RowView } from "../Tables.ts";

/** Which session a response is for, and which response it is. */
export interface Response {
  readonly registrationId: Digest;
  readonly responseDigest: Digest;
}

type OfFinish = "registrationId" | "responseDigest" | "credentialIdentity" | "observations";

/** What a certified finish did. */
export type Completion = Effects & { readonly [K in OfFinish]: NonNullable<Effects[K]> };

/** Whether these are the effects of a finish: it has all of these fields, and nothing else has any. */
export const isCompletion = (effects: Effects): effects is Completion => effects.registrationId !== undefined;

/** What completed a session, from the certificate that every member keeps; undefined while nothing has. */
export const completionOf = (view: RowView, registrationId: Digest): Completion | undefined => {
  const row = view.get("completions", registrationId);
  const effects = row && view.get("certificates", row.proposalId)?.proposal.effects;
  return effects !== undefined && isCompletion(effects) ? effects : undefined;
};
