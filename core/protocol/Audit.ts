/** What is kept of every change, for whoever asks later: chained at each peer for itself. */
import type { Digest } from "../Digest.ts";
import { numberKey, rowCodec, type Rows } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import type { Proposal } from "./Proposal.ts";

const AUDIT_TAG = "CUSTODY_AUDIT_V1";

/** Exactly one audit row for each applied proposal, written from the proposal alone (S32). */
export const writeAudit = (turn: Turn, id: Digest, proposal: Proposal): void => {
  const { audit } = turn.state;
  const { effects } = proposal;
  const row: Rows["audit"] = {
    id,
    peerId: turn.self,
    integrityKeyVersion: turn.state.integrityVersion,
    seq: audit.seq + 1,
    prevHash: audit.hash,
    timestamp: turn.now,
    event: proposal.kind === "METADATA" ? "APPROVER_METADATA_REPLACED" : "APPROVER_REGISTERED",
    actor: proposal.actor,
    approverRef: effects.ref,
    metadataRevision: effects.newRevision,
    entryPeer: proposal.entryPeer,
    request: proposal.request,
    outcome: "APPLIED",
  };
  turn.write({ op: "insert", table: "audit", key: numberKey(row.seq), row });
  turn.state.audit = { seq: row.seq, hash: turn.context.crypto.digest(AUDIT_TAG, rowCodec("audit"), row) };
};
