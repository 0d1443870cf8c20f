/** Every problem the public API answers with. The one table: answers and their description are made from it. */
import type { RejectionCode } from "../../core/base/Rejection.ts";

/** Codes of this layer, beside those of the core. */
type ServerCode =
  | "INVALID_QUERY"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "BAD_REQUEST"
  | "REQUEST_TIMEOUT"
  | "BODY_TOO_LARGE"
  | "HEADERS_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "BODY_CAPACITY"
  | "INVALID_SHARE"
  | "NOT_READY"
  | "STOPPING"
  | "REKEY_STEP"
  | "BACKUP_UNDER_WAY"
  | "NO_SPACE"
  | "AUDIT_UNAVAILABLE"
  | "INTERNAL_ERROR";
export type ErrorCode = RejectionCode | ServerCode;

interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** What it is answered for, as callers are told beforehand. */
  readonly when: string;
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean;
  /** Seconds after which a repetition makes sense, at least. */
  readonly retryAfter: number | undefined;
}

type Again = "not again" | "later" | { readonly afterSeconds: number };

const kind = (status: number, title: string, when: string, again: Again = "not again"): ErrorKind => ({
  status,
  title,
  when,
  retryable: again !== "not again",
  retryAfter: typeof again === "object" ? again.afterSeconds : undefined,
});

export const errorKinds: { readonly [C in ErrorCode]: ErrorKind } = {
  INVALID_REQUEST_BODY: kind(400, "The request body is malformed", "See `errors`."),
  INVALID_QUERY: kind(400, "The query is malformed", "`errors` names the parameters."),
  INVALID_REF: kind(400, "The ref is malformed", "Not a complete ref."),
  INVALID_PUBLIC_KEY: kind(400, "The public key is refused", "Refused by its algorithm."),
  INVALID_METADATA: kind(400, "The metadata is over a limit", "Over a limit."),
  INVALID_CEREMONY: kind(400, "The registration ceremony is refused", "`errors[].code` names the failed check."),
  UNSUPPORTED_ALGORITHM: kind(400, "The algorithm is not installed", "Not installed; `hint` lists those that are."),
  SCHEME_NOT_THRESHOLD: kind(400, "The scheme has no threshold signatures", "Only a peer that is alone has such keys."),
  INVALID_COMMAND: kind(400, "The command is not for this key", "Another scheme, or a message of a wrong length."),
  INVALID_SHARE: kind(400, "The unseal share is refused", "Malformed, of another peer or init, or not fitting."),
  BAD_REQUEST: kind(
    400,
    "The request is malformed",
    "Not HTTP/1.1, not one `Host`, broken framing, a wrong query or condition.",
  ),
  UNAUTHENTICATED: kind(
    401,
    "The token is missing or refused",
    "Token missing, repeated, bad, expired, or under 5 s left.",
  ),
  ACCESS_DENIED: kind(403, "The permission is missing", "The permission is missing."),
  APPROVER_NOT_FOUND: kind(404, "There is no such approver", "No version has this ref."),
  REGISTRATION_NOT_FOUND: kind(404, "There is no such enrollment", "No such invitation, or over for an hour."),
  WEBAUTHN_DISABLED: kind(404, "Enrollment is disabled", "Enrollment is off."),
  KEY_NOT_FOUND: kind(404, "There is no such key", "No key has this id."),
  GENERATION_NOT_FOUND: kind(404, "There is no such generation", "The key has no such generation."),
  AUTHORITY_NOT_ATTACHED: kind(404, "The authority is not attached", "Not attached to the active generation."),
  NOT_FOUND: kind(404, "There is no such resource", "No such path."),
  METHOD_NOT_ALLOWED: kind(405, "The method is not allowed here", "With `Allow`."),
  REQUEST_TIMEOUT: kind(408, "The request did not arrive in time", "Header or body came too late.", "later"),
  KEY_ALREADY_REGISTERED: kind(409, "The key is registered already", "The key belongs to another id."),
  KEY_ALREADY_EXISTS: kind(409, "The key exists already", "A key of this id was made otherwise."),
  GENERATION_MOVED: kind(409, "The generation is another one", "The one that is named is not active."),
  GENERATION_IN_USE: kind(409, "The generation is in use", "The active one goes only with `final`."),
  KEY_DESTROYED: kind(409, "The key is destroyed", "It signs no more."),
  CREDENTIAL_ALREADY_REGISTERED: kind(
    409,
    "The credential is registered already",
    "The credential was enrolled before.",
  ),
  REGISTRATION_COMPLETED: kind(409, "The enrollment is completed already", "Another response completed it."),
  KEY_UNSHARED: kind(409, "The key is not shared yet", "Made before the promotion; refresh it."),
  KEYS_NOT_PROMOTABLE: kind(409, "Custody keys are in the way", "Keys that cannot be shared out; destroy them first."),
  PROMOTION_IMPOSSIBLE: kind(409, "The peer cannot be promoted", "It is a member of a cluster."),
  PROMOTION_REFUSED: kind(409, "A target refuses", "A target is silent, or names what is wrong; nothing was pinned."),
  PROMOTION_UNDER_WAY: kind(409, "Another promotion is under way", "Another plan is pinned, or asked for just now."),
  RESTORE_IMPOSSIBLE: kind(409, "The peer cannot be restored", "No topology, or no other member."),
  ALREADY_INITIALIZED: kind(409, "The peer is initialized already", "`init` after the first unseal."),
  REKEY_STEP: kind(409, "The rekey is at another step", "A share without a rekey, or a second start."),
  BACKUP_UNDER_WAY: kind(
    409,
    "A backup is under way",
    "This peer makes or sends another, or erased a share meanwhile.",
    { afterSeconds: 10 },
  ),
  REGISTRATION_EXPIRED: kind(
    410,
    "The enrollment has expired",
    "Past its deadline, or void by a restore or configuration.",
  ),
  PRECONDITION_FAILED: kind(412, "The revision is another one", "If-Match is not the current revision."),
  BODY_TOO_LARGE: kind(413, "The request body is too large", "Past this endpoint's limit."),
  UNSUPPORTED_MEDIA_TYPE: kind(415, "The media type is not supported", "Not `application/json`, or encoded."),
  PRECONDITION_REQUIRED: kind(428, "If-Match is missing", "If-Match is missing."),
  PREPARATION_CAPACITY: kind(429, "There is no capacity", "A member holds 256 undecided changes.", { afterSeconds: 5 }),
  SESSION_CAPACITY: kind(429, "There is no capacity", "8 unfinished for the registrar, or 256 unexpired.", {
    afterSeconds: 30,
  }),
  // As long as one attempt to finish a session takes to come back.
  TOO_MANY_ATTEMPTS: kind(
    429,
    "Too many attempts were refused",
    "Too many refused responses; send yours again unchanged.",
    { afterSeconds: 10 },
  ),
  HEADERS_TOO_LARGE: kind(431, "The request header is too large", "Over 32 KiB."),
  INTERNAL_ERROR: kind(500, "Something went wrong here", "A fault of this program; report the `requestId`."),
  APPROVER_REPLICATION_UNAVAILABLE: kind(
    503,
    "A member is unavailable",
    "A member is missing, or the outcome is not known in time.",
    { afterSeconds: 1 },
  ),
  KEY_REPLICATION_UNAVAILABLE: kind(
    503,
    "A member is unavailable",
    "A member is missing, or the outcome is not known in time.",
    { afterSeconds: 1 },
  ),
  KEYGEN_DISPUTED: kind(503, "Members disagree on what they made", "What one sent another does not hold.", {
    afterSeconds: 1,
  }),
  SIGNING_QUORUM_UNAVAILABLE: kind(503, "Too few members sign", "Fewer than the threshold can sign now.", {
    afterSeconds: 1,
  }),
  // Somebody repairs it.
  SHARE_MISSING: kind(503, "A share of the key is missing", "Repair it where it is missing, or ask another peer.", {
    afterSeconds: 5,
  }),
  REPAIR_FAILED: kind(503, "The share was not repaired", "A helper is missing, or what they sent does not fit.", {
    afterSeconds: 1,
  }),
  REPAIR_IMPOSSIBLE: kind(409, "The share cannot be repaired", "All members sign, or it was whole here alone."),
  TOKEN_KEYS_UNAVAILABLE: kind(
    503,
    "Tokens cannot be verified",
    "No keys here to verify the token of a read or operator.",
    { afterSeconds: 5 },
  ),
  CLOCK_IN_DOUBT: kind(
    503,
    "The clock of this peer is in doubt",
    "A read or operator's token is bad only since the clock here was set.",
    { afterSeconds: 5 },
  ),
  // Somebody unseals or initializes it, or it comes so far by itself.
  SEALED: kind(503, "The peer is sealed", "A read at a sealed peer.", { afterSeconds: 5 }),
  VERIFYING: kind(503, "The peer is verifying its records", "A read while rows are verified.", { afterSeconds: 5 }),
  INDEXING: kind(503, "The peer is making its index", "A list, while the index is made after an upgrade.", {
    afterSeconds: 5,
  }),
  RECOVERING: kind(503, "The peer is recovering", "A read while the registry is not whole.", { afterSeconds: 5 }),
  NOT_INITIALIZED: kind(503, "The peer is not initialized", "No keys yet.", { afterSeconds: 5 }),
  INTEGRITY_FAILURE: kind(503, "A stored record does not hold", "A stored row does not hold, or is gone."),
  REQUEST_CAPACITY: kind(
    503,
    "Too many requests at once",
    "More requests than can be served in time; yours holds most.",
    { afterSeconds: 1 },
  ),
  BODY_CAPACITY: kind(
    503,
    "Too many request bodies at once",
    "64 MiB of bodies in all, 8 of one subject, or 16 from one address.",
    { afterSeconds: 1 },
  ),
  AUDIT_UNAVAILABLE: kind(503, "The audit cannot be written", "An operator's act cannot be recorded."),
  NOT_READY: kind(503, "The cluster is not ready", "The answer of `ready`; see `members`.", { afterSeconds: 1 }),
  OUTDATED: kind(503, "The registry may be outdated", "A read at a peer that ran from an old disk.", {
    afterSeconds: 30,
  }),
  STOPPING: kind(503, "The peer is stopping", "Probes of a peer that ends.", { afterSeconds: 1 }),
  NO_SPACE: kind(507, "The disk has no space for it", "No space beside the database for its copy."),
};
