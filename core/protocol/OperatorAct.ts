/**
 * An operator's act at one peer, or the attempt: kept in the audit of that peer,
 * and nowhere else in the cluster. An act that was kept outside the rows for a
 * while, because the peer was sealed, is taken over once, by its number.
 */
import { digest, nullable, oneOf, record, text, type TypeOf, uint } from "../codec/Codec.ts";
import { actorCodec } from "./Proposal.ts";

/**
 * The calls that change the peer itself, or take all it has away. They are written as their place in this list, by
 * which older journals are read: new ones come last. Rows of the audit have them in words.
 */
export const operatorCalls = [
  "INITIALIZE",
  "UNSEAL",
  "SEAL",
  "RESTORE",
  "ROTATE_INTEGRITY_KEY",
  "REKEY",
  "BACKUP",
  "PROMOTE",
  "REPAIR",
] as const;
export type OperatorCall = (typeof operatorCalls)[number];

export const OPERATOR_TAG = "CUSTODY_OPERATOR_V1";

/** The request as the audit names it. A body that holds an unseal share leaves no digest. */
export const calledCodec = record({ method: text(16), path: text(2048), bodyDigest: nullable(digest) });

export const operatorActCodec = record({
  /** Unix milliseconds, by the clock of the peer. */
  at: uint,
  call: oneOf(operatorCalls),
  actor: actorCodec,
  /** The result as the caller was told it, and as the log has it. */
  requestId: text(128),
  request: calledCodec,
  /** Its outcome: `APPLIED`, `ACCEPTED`, `ASKED`, or the code of the refusal. */
  outcome: text(64),
  /** Details in words, empty if there are none; never a submitted value. */
  detail: text(256),
  /** How often within a minute, where the same call was refused again and again. */
  times: uint,
});
export type OperatorAct = TypeOf<typeof operatorActCodec>;

/** Whether the act was refused, so that it changed nothing. */
export const isRefusal = ({ outcome }: Pick<OperatorAct, "outcome">): boolean =>
  outcome !== "APPLIED" && outcome !== "ACCEPTED" && outcome !== "ASKED";

/** An act on its way into the audit. */
export interface NumberedAct {
  /** Ascending within a process; of kept acts, over all processes. */
  readonly no: number;
  /** It was kept outside the rows, so it may come once more after a crash. */
  readonly isKept: boolean;
  readonly act: OperatorAct;
}
