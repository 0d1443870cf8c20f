/** Errors of the public API, as faults on their way and as RFC 9457 problems. */
import type { BodyFault, Rejection } from "../../core/base/Rejection.ts";
import type { QueryFault, QueryFaults } from "../../runtime/Query.ts";
import { type ErrorCode, errorKinds } from "./Problems.ts";

/** The challenge of RFC 9110 11.6.1; the token travels in a header of its own. */
const challenge = 'JWT realm="custody", header="X-JWT-TOKEN"';

/** An error before it is written: no field ever holds a submitted value. */
export interface HttpFault extends Omit<Rejection, "code" | "faults"> {
  readonly code: ErrorCode;
  readonly faults: ReadonlyArray<BodyFault | QueryFault>;
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

/** 400 with every fault. */
export const invalidQuery = (faults: QueryFaults): HttpFault =>
  httpFault(
    "INVALID_QUERY",
    "The query is not what this endpoint takes.",
    "Correct the parameters that the errors name; /docs lists those there are.",
    { faults },
  );

export const faultOf = (rejection: Rejection): HttpFault => ({ ...rejection, allow: undefined });

export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const PROBLEM_TYPE = "application/problem+json";

/** Callers that are refused together shall not come back together: up to twice as late, and a second more. */
const headersOf = ({ code, allow }: HttpFault, chance: number): Readonly<Record<string, string>> => {
  const seconds = errorKinds[code].retryAfter;
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
