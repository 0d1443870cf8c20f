import { describe, expect, it } from "vitest";
import { rejection, rejectionCodes } from "../../core/base/Rejection.ts";
import { faultOf, httpFault, problemOf } from "./HttpErrors.ts";
import { errorKinds } from "./Problems.ts";

describe("the error table", () => {
  it("has a row for every code of the core, with the status contract 7 gives", () => {
    const statuses = Object.fromEntries(rejectionCodes.map((code) => [code, errorKinds[code].status]));
    expect(statuses).toMatchObject({
      INVALID_REQUEST_BODY: 400,
      INVALID_REF: 400,
      INVALID_PUBLIC_KEY: 400,
      INVALID_METADATA: 400,
      UNSUPPORTED_ALGORITHM: 400,
      INVALID_CEREMONY: 400,
      APPROVER_NOT_FOUND: 404,
      REGISTRATION_NOT_FOUND: 404,
      WEBAUTHN_DISABLED: 404,
      REGISTRATION_COMPLETED: 409,
      CREDENTIAL_ALREADY_REGISTERED: 409,
      REGISTRATION_EXPIRED: 410,
      SESSION_CAPACITY: 429,
      REQUEST_CAPACITY: 503,
      KEY_ALREADY_REGISTERED: 409,
      PREPARATION_CAPACITY: 429,
      APPROVER_REPLICATION_UNAVAILABLE: 503,
      TOKEN_KEYS_UNAVAILABLE: 503,
      CLOCK_IN_DOUBT: 503,
      SEALED: 503,
      NOT_INITIALIZED: 503,
      UNAUTHENTICATED: 401,
      ACCESS_DENIED: 403,
    });
    expect(Object.values(statuses)).not.toContain(undefined);
  });

  it("lets callers come again where somebody repairs what is missing", () => {
    const waiting = ["SHARE_MISSING", "KEYGEN_DISPUTED", "SIGNING_QUORUM_UNAVAILABLE"] as const;
    expect(waiting.map((code) => errorKinds[code].retryable)).toEqual([true, true, true]);
  });

  it("says of every code what it is answered for", () => {
    for (const { when, title } of Object.values(errorKinds)) {
      expect(when).toMatch(/^[A-Z`0-9].*\.$/);
      expect(title).toMatch(/^[A-Z].*[^.]$/);
    }
  });
});

describe("a problem", () => {
  it("leaves out what is empty", () => {
    const { status, headers, body } = problemOf(httpFault("NOT_FOUND", "Detail.", "Hint."), "id-1");
    expect([status, headers]).toEqual([404, {}]);
    expect(JSON.parse(body)).toEqual({
      type: "urn:custody:problem:NOT_FOUND",
      title: "There is no such resource",
      status: 404,
      detail: "Detail.",
      instance: "urn:custody:request:id-1",
      code: "NOT_FOUND",
      requestId: "id-1",
      retryable: false,
      hint: "Hint.",
    });
  });

  it("carries members, ref and an open outcome, which makes it retryable", () => {
    const members = [{ peerId: 2, reason: "it is sealed" }];
    const open = rejection("INTEGRITY_FAILURE", "d", "h", { members, ref: "r", outcomeUnknown: true });
    expect(JSON.parse(problemOf(faultOf(open), "x").body)).toMatchObject({
      members,
      ref: "r",
      outcomeUnknown: true,
      retryable: true,
    });
  });

  it("brings the headers its status asks for", () => {
    expect(problemOf(httpFault("UNAUTHENTICATED", "", ""), "x").headers).toHaveProperty("www-authenticate");
    const putOff = (chance: number) => problemOf(httpFault("PREPARATION_CAPACITY", "", ""), "x", chance).headers;
    expect([putOff(0), putOff(0.99)]).toEqual([{ "retry-after": "5" }, { "retry-after": "11" }]);
    expect(problemOf(httpFault("METHOD_NOT_ALLOWED", "", "", { allow: "POST" }), "x").headers).toEqual({
      allow: "POST",
    });
  });
});
