import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parseEmptyBody, parseInitBody, parseRekeyBody, parseUnsealBody } from "./SystemBodies.ts";

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
      Either.right({ numbers: { peerId: 1, threshold: 2, total: 65_535 }, recipients: [] }),
    );
    const withKeys = '{"peerId":1,"threshold":1,"total":1,"recipients":';
    expect(parseInitBody(bytes(`${withKeys}["age1x"]}`))).toMatchObject({ right: { recipients: ["age1x"] } });
    for (const [list, pointer] of [
      ["[]", "/recipients"],
      ['"age1x"', "/recipients"],
      ["[7]", "/recipients/0"],
    ])
      expect(pointers(parseInitBody(bytes(`${withKeys}${list}}`)))).toEqual([`${pointer} wrong_type`]);
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
    expect(parseUnsealBody(bytes('{"share64":"x"}'))).toEqual(Either.right({ _tag: "Share", share64: "x" }));
    expect(parseUnsealBody(bytes('{"reset":true}'))).toEqual(Either.right({ _tag: "Reset" }));
    expect(pointers(parseUnsealBody(bytes('{"reset":1}')))).toEqual(["/reset wrong_type"]);
    expect(pointers(parseUnsealBody(bytes('{"reset":true,"share64":"x"}')))).toEqual([" ambiguous"]);
    expect(pointers(parseUnsealBody(bytes('{"share64":7}')))).toEqual(["/share64 wrong_type"]);
    expect(pointers(parseUnsealBody(bytes('{"share64":"x","more":1}')))).toEqual(["/more unknown_field"]);
    expect(pointers(parseUnsealBody(bytes('{"share":"x"}')))).toEqual([
      "/share unknown_field",
      "/share64 missing_field",
    ]);
  });
});

describe("the body of rekey", () => {
  it("starts one, with both numbers or none, or is a share or a reset", () => {
    expect(parseRekeyBody(bytes('{"start":true,"shares":5,"threshold":3}'))).toEqual(
      Either.right({ _tag: "Start", sharing: { shares: 5, threshold: 3 }, recipients: [] }),
    );
    expect(parseRekeyBody(bytes('{"start":true}'))).toMatchObject({ right: { sharing: undefined } });
    expect(parseRekeyBody(bytes('{"share64":"x"}'))).toMatchObject({ right: { _tag: "Share" } });
    expect(parseRekeyBody(bytes('{"reset":true}'))).toMatchObject({ right: { _tag: "Reset" } });
    for (const numbers of [
      '"shares":5',
      '"shares":5,"threshold":1',
      '"shares":2,"threshold":3',
      '"shares":256,"threshold":2',
    ])
      expect(pointers(parseRekeyBody(bytes(`{"start":true,${numbers}}`)))).toEqual(["/threshold out_of_range"]);
    expect(pointers(parseRekeyBody(bytes('{"start":true,"share64":"x"}')))).toEqual([" ambiguous"]);
    expect(pointers(parseRekeyBody(bytes('{"start":false}')))).toEqual(["/start wrong_type"]);
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
