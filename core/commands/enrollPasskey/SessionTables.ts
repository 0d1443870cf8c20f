/** The enrollment sessions that a peer keeps. */
import { digest, nullable, record, text } from "../../codec/Codec.ts";
import { signedStatementCodec } from "../../protocol/Statement.ts";
import { type RowView, type RowsOf, type View, viewOf } from "../../protocol/Tables.ts";
import { sessionCodec } from "./Session.ts";

export const enrollmentTables = {
  /** By registration id, until an hour past their deadline. */
  sessions: record({
    session: sessionCodec,
    /** This peer's own acknowledgement. */
    ack: signedStatementCodec,
    /** The one response that completed it, and the approver registered by that. */
    completed: nullable(record({ responseDigest: digest, ref: text(256) })),
  }),
};
export type SessionRow = RowsOf<typeof enrollmentTables>["sessions"];

export const enrollmentRows = (view: RowView): View<RowsOf<typeof enrollmentTables>> => viewOf(view, enrollmentTables);
