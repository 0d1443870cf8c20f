import { describe, expect, it } from "vitest";
import { httpFault, problemOf } from "../../server/http/HttpErrors.ts";
import type { ErrorCode } from "../../server/http/Problems.ts";
import { type LiveAnswer, undescribed } from "./Described.ts";

const path = "/v1/custody/system/restore";
const ok: LiveAnswer = {
  method: "POST",
  target: path,
  status: 200,
  headers: new Headers({ "content-type": "application/json", "x-request-id": "x" }),
  text: '{"state":"SEALED","incarnation":null}',
};
const problem = (code: ErrorCode): LiveAnswer => {
  const { status, headers, body } = problemOf(httpFault(code, "d", "h"), "x", 0);
  const all = { ...headers, "content-type": "application/problem+json", "x-request-id": "x" };
  return { ...ok, status, headers: new Headers(all), text: body };
};

describe("an answer held against the description", () => {
  it("passes where it is described", () => {
    expect(undescribed(ok)).toEqual([]);
    expect(undescribed(problem("RESTORE_IMPOSSIBLE"))).toEqual([]);
    expect(undescribed({ ...problem("NOT_FOUND"), target: "/nowhere" })).toEqual([]);
  });

  it.each<[string, Partial<LiveAnswer>, string]>([
    ["a field that nobody knows", { text: '{"state":"SEALED","incarnation":null,"x":1}' }, "/x unknown_field"],
    ["a field that is missing", { text: '{"state":"SEALED"}' }, "must have required property 'incarnation'"],
    ["a wrong value", { text: '{"state":"OPEN","incarnation":null}' }, "/state must be equal to one of"],
    ["a status", { status: 202 }, "not described to answer 202"],
    [
      "a header",
      { headers: new Headers({ etag: '"1"', "x-request-id": "x", "content-type": "application/json" }) },
      "etag",
    ],
    ["no request id", { headers: new Headers({ "content-type": "application/json" }) }, "x-request-id is described"],
    ["a media type", { headers: new Headers({ "x-request-id": "x", "content-type": "text/plain" }) }, "text/plain"],
  ])("fails for %s", (_, change, found) => {
    expect(undescribed({ ...ok, ...change }).join("\n")).toContain(found);
  });

  it("fails for a code that is another endpoint's", () => {
    expect(undescribed(problem("KEY_ALREADY_REGISTERED")).join()).toContain("/code must be equal to one of");
  });
});
