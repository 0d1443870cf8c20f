import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { object, text } from "../codec/Shape.ts";
import { readBody } from "./RequestBody.ts";

const read = (body: string) => readBody(utf8ToBytes(body), "one of these tests", object({ at: text() }));
const refusal = (body: string) => Either.getOrThrow(Either.flip(read(body)));

describe("a body", () => {
  it("is read", () => {
    expect(read('{"at":"ab"}')).toEqual(Either.right({ at: "ab" }));
  });

  it("is refused with what it should have been", () => {
    const { code, detail, faults } = refusal("[]");
    expect([code, detail]).toEqual(["INVALID_REQUEST_BODY", "The request body is not one of these tests."]);
    expect(faults).toEqual([{ pointer: "", code: "wrong_type", detail: "This must be an object." }]);
    expect(refusal("{").faults.map((each) => each.code)).toEqual(["unexpected_end"]);
  });

  it("has as many bytes as it may, and not one more", () => {
    const padded = (bytes: number) => '{"at":"ab"}'.padEnd(bytes);
    expect(Either.isRight(read(padded(Limits.requestBodyBytes)))).toBe(true);
    expect(refusal(padded(Limits.requestBodyBytes + 1)).faults).toEqual([
      { pointer: "", code: "too_large", detail: "This request body takes at most 262144 bytes." },
    ]);
  });

  it("is told of as many faults as a rejection lists, in their order", () => {
    const names = Array.from({ length: Limits.listedFaults + 1 }, (_, index) => `f${index}`);
    const body = (count: number) =>
      JSON.stringify(Object.fromEntries(["at", ...names.slice(0, count)].map((name) => [name, "x"])));
    expect(refusal(body(Limits.listedFaults)).faults).toHaveLength(64);
    expect(refusal(body(Limits.listedFaults + 1)).faults).toEqual(refusal(body(Limits.listedFaults)).faults);
  });
});
