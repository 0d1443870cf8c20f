/**
 * What an operator did to one peer, or tried to: kept in the audit of that peer,
 * and nowhere else in the cluster. One that was kept outside the rows for a while,
 * because the peer was sealed, is taken over once, by its number.
 */
import { digest, nullable, oneOf, record, text, type TypeOf, uint } from "../codec/Codec.ts";
import { actorCodec } from "./Proposal.ts";

/** The calls that change a peer itself. */
export const operatorCalls = ["INITIALIZE", "UNSEAL", "SEAL", "RESTORE", "ROTATE_INTEGRITY_KEY", "REKEY"] as const;
export type OperatorCall = (typeof operatorCalls)[number];

export const OPERATOR_TAG = "CUSTODY_OPERATOR_V1";

/** The request as the audit names it. A body that holds an unseal share leaves no digest. */
export const calledCodec = record({ method: text(16), path: text(2048), bodyDigest: nullable(digest) });

export const operatorActCodec = record({
  /** Unix milliseconds, by the clock of the peer. */
  at: uint,
  call: oneOf(operatorCalls),
  actor: actorCodec,
  /** As the caller was told it, and as the log has it. */
  requestId: text(128),
  request: calledCodec,
  /** What came of it: `APPLIED`, `ACCEPTED`, `ASKED`, or the code of the refusal. */
  outcome: text(64),
  /** More about it in words, empty if there is no more; never a submitted value. */
  detail: text(256),
  /** How often within a minute, where the same was refused again and again. */
  times: uint,
});
export type OperatorAct = TypeOf<typeof operatorActCodec>;

/** An act on its way into the audit. */
export interface NumberedAct {
  /** Ascending within a process; of kept acts, over all processes. */
  readonly no: number;
  /** It has been kept outside the rows, so that it may come once more after a crash. */
  readonly isKept: boolean;
  readonly act: OperatorAct;
}
