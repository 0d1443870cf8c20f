/** Every error of the public API: its status, its title and whether repeating the request can help. The one table. */
import type { Rejection, RejectionCode } from "../../core/base/Rejection.ts";

/** Codes of this layer, beside those of the core. */
type ServerCode =
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
  | "OUTDATED"
  | "STOPPING"
  | "REKEY_STEP"
  | "AUDIT_UNAVAILABLE"
  | "INTERNAL_ERROR";
export type ErrorCode = RejectionCode | ServerCode;

interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean;
}

const kind = (status: number, title: string, retryable = false): ErrorKind => ({ status, title, retryable });

export const errorKinds: { readonly [C in ErrorCode]: ErrorKind } = {
  INVALID_REQUEST_BODY: kind(400, "The request body is malformed"),
  INVALID_REF: kind(400, "The ref is malformed"),
  INVALID_PUBLIC_KEY: kind(400, "The public key is refused"),
  INVALID_METADATA: kind(400, "The metadata is over a limit"),
  INVALID_CEREMONY: kind(400, "The registration ceremony is refused"),
  UNSUPPORTED_ALGORITHM: kind(400, "The algorithm is not installed"),
  INVALID_SHARE: kind(400, "The unseal share is refused"),
  BAD_REQUEST: kind(400, "The request is malformed"),
  UNAUTHENTICATED: kind(401, "The token is missing or refused"),
  ACCESS_DENIED: kind(403, "The permission is missing"),
  APPROVER_NOT_FOUND: kind(404, "There is no such approver"),
  REGISTRATION_NOT_FOUND: kind(404, "There is no such enrollment"),
  WEBAUTHN_DISABLED: kind(404, "Enrollment is disabled"),
  NOT_FOUND: kind(404, "There is no such resource"),
  METHOD_NOT_ALLOWED: kind(405, "The method is not allowed here"),
  REQUEST_TIMEOUT: kind(408, "The request did not arrive in time", true),
  KEY_ALREADY_REGISTERED: kind(409, "The key is registered already"),
  CREDENTIAL_ALREADY_REGISTERED: kind(409, "The credential is registered already"),
  REGISTRATION_COMPLETED: kind(409, "The enrollment is completed already"),
  RESTORE_IMPOSSIBLE: kind(409, "The peer cannot be restored"),
  ALREADY_INITIALIZED: kind(409, "The peer is initialized already"),
  REKEY_STEP: kind(409, "The rekey is at another step"),
  REGISTRATION_EXPIRED: kind(410, "The enrollment has expired"),
  PRECONDITION_FAILED: kind(412, "The revision is another one"),
  BODY_TOO_LARGE: kind(413, "The request body is too large"),
  UNSUPPORTED_MEDIA_TYPE: kind(415, "The media type is not supported"),
  PRECONDITION_REQUIRED: kind(428, "If-Match is missing"),
  PREPARATION_CAPACITY: kind(429, "There is no capacity", true),
  SESSION_CAPACITY: kind(429, "There is no capacity", true),
  TOO_MANY_ATTEMPTS: kind(429, "Too many attempts were refused", true),
  HEADERS_TOO_LARGE: kind(431, "The request header is too large"),
  INTERNAL_ERROR: kind(500, "Something went wrong here"),
  APPROVER_REPLICATION_UNAVAILABLE: kind(503, "A member is unavailable", true),
  TOKEN_KEYS_UNAVAILABLE: kind(503, "Tokens cannot be verified", true),
  CLOCK_IN_DOUBT: kind(503, "The clock of this peer is in doubt", true),
  SEALED: kind(503, "The peer is sealed", true),
  VERIFYING: kind(503, "The peer is verifying its records", true),
  RECOVERING: kind(503, "The peer is recovering", true),
  NOT_INITIALIZED: kind(503, "The peer is not initialized", true),
  INTEGRITY_FAILURE: kind(503, "A stored record does not hold"),
  REQUEST_CAPACITY: kind(503, "Too many requests at once", true),
  BODY_CAPACITY: kind(503, "Too many request bodies at once", true),
  AUDIT_UNAVAILABLE: kind(503, "The audit cannot be written"),
  NOT_READY: kind(503, "The cluster is not ready", true),
  OUTDATED: kind(503, "The registry may be outdated", true),
  STOPPING: kind(503, "The peer is stopping", true),
};

/** Seconds after which a repetition makes sense, at least. */
const retryAfter: Partial<Record<ErrorCode, number>> = {
  PREPARATION_CAPACITY: 5,
  SESSION_CAPACITY: 30,
  // As long as one attempt to finish a session takes to come back.
  TOO_MANY_ATTEMPTS: 10,
  REQUEST_CAPACITY: 1,
  BODY_CAPACITY: 1,
  APPROVER_REPLICATION_UNAVAILABLE: 1,
  TOKEN_KEYS_UNAVAILABLE: 5,
  CLOCK_IN_DOUBT: 5,
  OUTDATED: 30,
  // Somebody unseals or initializes it, or it comes so far by itself.
  SEALED: 5,
  NOT_INITIALIZED: 5,
  VERIFYING: 5,
  RECOVERING: 5,
  NOT_READY: 1,
  STOPPING: 1,
};

/** The challenge of RFC 9110 11.6.1; the token travels in a header of its own. */
const challenge = 'JWT realm="custody", header="X-JWT-TOKEN"';

/** An error before it is written: no field ever holds a submitted value. */
export interface HttpFault extends Omit<Rejection, "code"> {
  readonly code: ErrorCode;
  /** For 405. */
  readonly allow: string | undefined;
}

type Optional = "faults" | "members" | "ref" | "outcomeUnknown" | "allow";

export const httpFault = (
  code: ErrorCode,
  detail: string,
  hint: string,
  more: Partial<Pick<HttpFault, Optional>> = {},
): HttpFault => ({
  code,
  detail,
  hint,
  faults: [],
  members: [],
  ref: undefined,
  outcomeUnknown: false,
  allow: undefined,
  ...more,
});

export const faultOf = (rejection: Rejection): HttpFault => ({ ...rejection, allow: undefined });

export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const PROBLEM_TYPE = "application/problem+json";

/** Callers that are refused together shall not come back together: up to twice as late, and a second more. */
const headersOf = ({ code, allow }: HttpFault, chance: number): Readonly<Record<string, string>> => {
  const seconds = retryAfter[code];
  return {
    ...(seconds === undefined ? {} : { "retry-after": String(seconds + Math.floor(chance * (seconds + 2))) }),
    ...(code === "UNAUTHENTICATED" ? { "www-authenticate": challenge } : {}),
    ...(allow === undefined ? {} : { allow }),
  };
};

/**
 * An error in the form of RFC 9457.
 *
 * @param chance from 0 to below 1: how far Retry-After is put off
 */
export const problemOf = (fault: HttpFault, requestId: string, chance = Math.random()): Problem => {
  const { code, detail, hint, faults, members, ref, outcomeUnknown } = fault;
  const { status, title, retryable } = errorKinds[code];
  const body = JSON.stringify({
    type: `urn:custody:problem:${code}`,
    title,
    status,
    detail,
    instance: `urn:custody:request:${requestId}`,
    code,
    requestId,
    retryable: retryable || outcomeUnknown,
    hint,
    ...(faults.length === 0 ? {} : { errors: faults }),
    ...(members.length === 0 ? {} : { members }),
    ...(ref === undefined ? {} : { ref }),
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
  });
  return { status, headers: headersOf(fault, chance), body };
};
