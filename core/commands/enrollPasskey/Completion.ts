/** Responses to sessions, and which one completed a session: known for ever, with or without the session itself. */
import { digest, record, type TypeOf } from "../../codec/Codec.ts";
import { kept } from "../../codec/Versioned.ts";
import type { Digest } from "../../base/Digest.ts";
import type { RowView } from "../../protocol/Tables.ts";
import { approverCodec, observationsCodec } from "../approvers/Approver.ts";
import { coded } from "../../codec/Coded.ts";
import { passkeyRows } from "./Tables.ts";

/** The kind of proposals that complete sessions. */
export const FINISH = "FINISH";

/** Which session a response is for, and which response it is. */
export interface Response {
  readonly registrationId: Digest;
  readonly responseDigest: Digest;
}

const completionCodec = kept(
  record({
    approver: approverCodec,
    registrationId: digest,
    responseDigest: digest,
    observations: observationsCodec,
    /** (rpId, credentialId) of the passkey. */
    credentialIdentity: digest,
  }),
);
/** The effects of a certified finish. */
export type Completion = TypeOf<typeof completionCodec>;
export const completions = coded(completionCodec);

/** The completion of a session, from the certificate that every member keeps; undefined while there is none. */
export const completionOf = (view: RowView, registrationId: Digest): Completion | undefined => {
  const row = passkeyRows(view).get("completions", registrationId);
  const proposal = row && view.get("certificates", row.proposalId)?.proposal;
  return proposal?.kind === FINISH ? completions.certified(proposal.effects) : undefined;
};
