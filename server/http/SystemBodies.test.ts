import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parseEmptyBody, parseInitBody, parseUnsealBody } from "./SystemBodies.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const pointers = (
  result: Either.Either<
    unknown,
    { readonly faults: ReadonlyArray<{ readonly pointer: string; readonly code: string }> }
  >,
) => (Either.isLeft(result) ? result.left.faults.map(({ pointer, code }) => `${pointer} ${code}`) : []);

describe("the body of init", () => {
  it("is three positive integers", () => {
    expect(parseInitBody(bytes('{"peerId":1,"threshold":2,"total":65535}'))).toEqual(
      Either.right({ peerId: 1, threshold: 2, total: 65_535 }),
    );
  });

  it.each([
    ["{}", ["/peerId missing_field", "/threshold missing_field", "/total missing_field"]],
    [
      '{"peerId":0,"threshold":1.5,"total":65536}',
      ["/peerId wrong_type", "/threshold wrong_type", "/total wrong_type"],
    ],
    ['{"peerId":null,"threshold":1,"total":1,"x/y":1}', ["/x~1y unknown_field", "/peerId null_value"]],
    ['{"peerId":1,"threshold":1,"total":1,"total":1}', ["/total duplicate_key"]],
    ["[]", [" wrong_type"]],
    ["", [" unexpected_end"]],
  ])("%s is refused", (text, expected) => {
    expect(pointers(parseInitBody(bytes(text)))).toEqual(expected);
  });

  it("names at most 64 faults", () => {
    const fields = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1])));
    expect(pointers(parseInitBody(bytes(fields(61))))).toHaveLength(64);
    expect(pointers(parseInitBody(bytes(fields(62))))).toHaveLength(64);
  });
});

describe("the body of unseal", () => {
  it("is one string, whatever it says", () => {
    expect(parseUnsealBody(bytes('{"share64":"x"}'))).toEqual(Either.right("x"));
    expect(pointers(parseUnsealBody(bytes('{"share64":7}')))).toEqual(["/share64 wrong_type"]);
    expect(pointers(parseUnsealBody(bytes('{"share64":"x","more":1}')))).toEqual(["/more unknown_field"]);
    expect(pointers(parseUnsealBody(bytes('{"share":"x"}')))).toEqual([
      "/share unknown_field",
      "/share64 missing_field",
    ]);
  });
});

describe("the body of seal", () => {
  it("is nothing or an empty object", () => {
    expect(Either.isRight(parseEmptyBody(bytes("")))).toBe(true);
    expect(Either.isRight(parseEmptyBody(bytes(" {} ")))).toBe(true);
    expect(pointers(parseEmptyBody(bytes('{"force":true}')))).toEqual(["/force unknown_field"]);
    expect(pointers(parseEmptyBody(bytes("null")))).toEqual([" wrong_type"]);
  });
});
