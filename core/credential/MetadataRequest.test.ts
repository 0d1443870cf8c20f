import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { parseMetadataRequest } from "./MetadataRequest.ts";

const parse = (body: unknown) =>
  parseMetadataRequest(utf8ToBytes(typeof body === "string" ? body : JSON.stringify(body)));
const refusal = (body: unknown) => Either.getOrThrow(Either.flip(parse(body)));
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"] as const));

describe("a metadata replacement", () => {
  it("is read as sorted pairs", () => {
    expect(parse({ metadata: { team: "payments", area: "eu" } })).toEqual(
      Either.right([
        ["area", "eu"],
        ["team", "payments"],
      ]),
    );
  });

  it("may be empty, which clears everything, but not absent", () => {
    expect(parse({ metadata: {} })).toEqual(Either.right([]));
    expect(refusal({}).faults).toMatchObject([{ pointer: "/metadata", code: "missing_field" }]);
  });

  it("holds as many pairs as metadata may, and not one more", () => {
    expect(Either.isRight(parse({ metadata: numbered(Limits.metadataPairs) }))).toBe(true);
    expect(refusal({ metadata: numbered(Limits.metadataPairs + 1) }).code).toBe("INVALID_METADATA");
  });

  it.each([
    ["an array", "[]", " wrong_type"],
    ["null", "null", " null_value"],
    ["nothing", "", " unexpected_end"],
    ["trailing bytes", '{"metadata":{}} x', " trailing_bytes"],
    ["metadata twice", '{"metadata":{},"metadata":{}}', "/metadata duplicate_key"],
    ["a key twice", '{"metadata":{"a":"b","a":"c"}}', "/metadata/a duplicate_key"],
    ["metadata that is null", '{"metadata":null}', "/metadata null_value"],
    ["metadata that is a list", '{"metadata":[]}', "/metadata wrong_type"],
    ["a value that is a number", '{"metadata":{"a":1}}', "/metadata/a wrong_type"],
    ["a value that is null", '{"metadata":{"a":null}}', "/metadata/a null_value"],
    ["a field of a registration", '{"id":"a","metadata":{}}', "/id unknown_field"],
  ])("is refused as %s", (_what, body, fault) => {
    const { code, faults } = refusal(body);
    expect(code).toBe("INVALID_REQUEST_BODY");
    expect(faults.map((each) => `${each.pointer} ${each.code}`)).toEqual([fault]);
  });
});
