import { Either } from "effect";
import { describe, expect, it } from "vitest";
import type { Shape } from "../../core/codec/Shape.ts";
import { initShape, noFields, readSystemBody, rekeyShape, sharingIn, unsealShape } from "./SystemBodies.ts";

const reader =
  <A>(shape: Shape<A>, isOptional = false) =>
  (body: string) =>
    readSystemBody({ shape, isOptional }, new TextEncoder().encode(body));
const init = reader(initShape);
const unseal = reader(unsealShape);
const rekey = reader(rekeyShape);
const none = reader(noFields, true);
const pointers = (
  result: Either.Either<
    unknown,
    { readonly faults: ReadonlyArray<{ readonly pointer?: string; readonly code: string }> }
  >,
) => (Either.isLeft(result) ? result.left.faults.map(({ pointer, code }) => `${pointer} ${code}`) : []);

describe("the body of init", () => {
  it("is three positive integers", () => {
    expect(init('{"peerId":1,"threshold":2,"total":65535}')).toEqual(
      Either.right({ peerId: 1, threshold: 2, total: 65_535 }),
    );
    const withKeys = '{"peerId":1,"threshold":1,"total":1,"recipients":';
    expect(init(`${withKeys}["age1x"]}`)).toMatchObject({ right: { recipients: ["age1x"] } });
    for (const [list, pointer] of [
      ["[]", "/recipients too_few"],
      ['"age1x"', "/recipients wrong_type"],
      ["[7]", "/recipients/0 wrong_type"],
      [`["${"x".repeat(32 * 1024 + 1)}"]`, "/recipients/0 invalid_value"],
    ])
      expect(pointers(init(`${withKeys}${list}}`))).toEqual([pointer]);
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
    expect(pointers(init(text))).toEqual(expected);
  });

  it("names at most 64 faults", () => {
    const fields = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1])));
    expect(pointers(init(fields(61)))).toHaveLength(64);
    expect(pointers(init(fields(62)))).toHaveLength(64);
  });
});

describe("the body of unseal", () => {
  it("is one string, whatever it says", () => {
    expect(unseal('{"share64":"x"}')).toEqual(Either.right({ share64: "x" }));
    expect(unseal('{"reset":true}')).toEqual(Either.right({ reset: true }));
    expect(pointers(unseal('{"reset":1}'))).toEqual(["/reset wrong_type"]);
    expect(pointers(unseal('{"reset":true,"share64":"x"}'))).toEqual([" ambiguous"]);
    expect(pointers(unseal('{"share64":7}'))).toEqual(["/share64 wrong_type"]);
    expect(pointers(unseal('{"share64":"x","more":1}'))).toEqual(["/more unknown_field"]);
    expect(pointers(unseal('{"share":"x"}'))).toEqual(["/share unknown_field", "/share64 missing_field"]);
  });
});

describe("the body of rekey", () => {
  it("starts one, or is a share or a reset", () => {
    const sharing = { shares: 5, threshold: 3 };
    expect(rekey('{"start":true,"shares":5,"threshold":3}')).toEqual(Either.right({ start: true, ...sharing }));
    expect(rekey('{"start":true}')).toEqual(Either.right({ start: true }));
    expect(rekey('{"share64":"x"}')).toEqual(Either.right({ share64: "x" }));
    expect(rekey('{"reset":true}')).toEqual(Either.right({ reset: true }));
    expect(pointers(rekey('{"start":true,"share64":"x"}'))).toEqual([" ambiguous"]);
    expect(pointers(rekey('{"share64":"x","shares":5}'))).toEqual(["/shares unknown_field"]);
    expect(pointers(rekey('{"start":false}'))).toEqual(["/start wrong_type"]);
    expect(pointers(rekey('{"start":true,"shares":256,"threshold":1}'))).toEqual([
      "/shares wrong_type",
      "/threshold wrong_type",
    ]);
  });

  it("has both numbers or none", () => {
    expect(sharingIn({ shares: 5, threshold: 3 })).toEqual(Either.right({ shares: 5, threshold: 3 }));
    expect(sharingIn({})).toEqual(Either.right(undefined));
    for (const wrong of [{ shares: 5 }, { threshold: 2 }, { shares: 2, threshold: 3 }])
      expect(pointers(sharingIn(wrong))).toEqual(["/threshold out_of_range"]);
  });
});

describe("the body of seal", () => {
  it("is nothing or an empty object", () => {
    expect(Either.isRight(none(""))).toBe(true);
    expect(Either.isRight(none(" {} "))).toBe(true);
    expect(pointers(none('{"force":true}'))).toEqual(["/force unknown_field"]);
    expect(pointers(none("null"))).toEqual([" null_value"]);
  });
});
