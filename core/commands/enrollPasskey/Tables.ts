/** Passkeys' rows besides the approver, and which response completed a session. */
import { digest, record, text } from "../../codec/Codec.ts";
import { type RowView, type RowsOf, type View, viewOf } from "../../protocol/Tables.ts";

export const passkeyTables = {
  /** The approver that has a credential of an authenticator, by (rpId, credentialId). */
  credentials: record({ ref: text(256) }),
  /** The proposal that completed a session, by registration id; kept for ever, as its certificate is. */
  completions: record({ proposalId: digest }),
};

export const passkeyRows = (view: RowView): View<RowsOf<typeof passkeyTables>> => viewOf(view, passkeyTables);
