/**
 * A refusal: the typed answer to a request, a message or a command that this
 * peer will not carry out. It says what is wrong, where, and what to do next.
 * HTTP statuses live in the server; nothing in here echoes a submitted value.
 */

import { Limits } from "./Limits.ts";

/** Stable codes, upper snake case (contract 7). */
export const rejectionCodes = [
  "INVALID_REQUEST_BODY",
  "INVALID_REF",
  "INVALID_PUBLIC_KEY",
  "INVALID_METADATA",
  "INVALID_CEREMONY",
  "UNSUPPORTED_ALGORITHM",
  "APPROVER_NOT_FOUND",
  "KEY_ALREADY_REGISTERED",
  "PREPARATION_CAPACITY",
  "APPROVER_REPLICATION_UNAVAILABLE",
  "SEALED",
  "NOT_INITIALIZED",
  "ALREADY_INITIALIZED",
  "TOKEN_KEYS_UNAVAILABLE",
  "CLOCK_IN_DOUBT",
  "UNAUTHENTICATED",
  "ACCESS_DENIED",
  "INTEGRITY_FAILURE",
  "PRECONDITION_REQUIRED",
  "PRECONDITION_FAILED",
  "RESTORE_IMPOSSIBLE",
  "RECOVERING",
  "VERIFYING",
  "WEBAUTHN_DISABLED",
  "REGISTRATION_NOT_FOUND",
  "REGISTRATION_EXPIRED",
  "REGISTRATION_COMPLETED",
  "CREDENTIAL_ALREADY_REGISTERED",
  "SESSION_CAPACITY",
  "TOO_MANY_ATTEMPTS",
  "REQUEST_CAPACITY",
  "INDEXING",
  "OUTDATED",
  "KEY_NOT_FOUND",
  "GENERATION_NOT_FOUND",
  "KEY_ALREADY_EXISTS",
  "GENERATION_MOVED",
  "GENERATION_IN_USE",
  "KEY_DESTROYED",
  "SCHEME_NOT_THRESHOLD",
  "INVALID_COMMAND",
  "AUTHORITY_NOT_ATTACHED",
  "KEY_REPLICATION_UNAVAILABLE",
  "KEYGEN_DISPUTED",
  "SIGNING_QUORUM_UNAVAILABLE",
  "SHARE_MISSING",
  "REPAIR_FAILED",
  "REPAIR_IMPOSSIBLE",
  "KEY_UNSHARED",
  "KEYS_NOT_PROMOTABLE",
  "PROMOTION_IMPOSSIBLE",
  "PROMOTION_REFUSED",
  "PROMOTION_UNDER_WAY",
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

/** One fault of a request body: an RFC 6901 pointer, a stable lower-case code, and a sentence. */
export interface BodyFault {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** Why one member stands in the way of a change. */
export interface MemberFault {
  readonly peerId: number;
  readonly reason: string;
}

export interface Rejection {
  readonly code: RejectionCode;
  /** One sentence for a person; never holds a submitted value or a secret. */
  readonly detail: string;
  /** What to do next. */
  readonly hint: string;
  readonly faults: ReadonlyArray<BodyFault>;
  readonly members: ReadonlyArray<MemberFault>;
  /** The approver the request was about, once it is known. */
  readonly ref: string | undefined;
  /** Whether the outcome is still open: repeating the same request finds it out. */
  readonly outcomeUnknown: boolean;
}

/** A rejection with the parts most rejections leave empty. */
export const rejection = (
  code: RejectionCode,
  detail: string,
  hint: string,
  more: Partial<Pick<Rejection, "faults" | "members" | "ref" | "outcomeUnknown">> = {},
): Rejection => ({
  code,
  detail,
  hint,
  // Bounded, because it must fit into a message to the peer that passes it on.
  faults: (more.faults ?? []).slice(0, Limits.listedFaults),
  members: (more.members ?? []).slice(0, Limits.members),
  ref: more.ref,
  outcomeUnknown: more.outcomeUnknown ?? false,
});
