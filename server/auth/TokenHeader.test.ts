import { Either } from "effect";
import { expect, it } from "vitest";
import { extractToken } from "./TokenHeader.ts";

it("takes the one X-JWT-TOKEN, in any case", () => {
  expect(extractToken(["Host", "a", "x-jwt-TOKEN", "a.b.c", "Accept", "x-jwt-token"])).toEqual(Either.right("a.b.c"));
});

it.each([
  ["missing", []],
  ["missing", ["Authorization", "Bearer a.b.c"]],
  ["repeated", ["X-JWT-TOKEN", "a.b.c", "X-JWT-TOKEN", "a.b.c"]],
  ["repeated", ["X-JWT-TOKEN", "a.b.c", "x-jwt-token", ""]],
])("refuses a header that is %s", (word, rawHeaders) => {
  expect(extractToken(rawHeaders)).toEqual(
    Either.left({ _tag: "Refused", reason: `the header X-JWT-TOKEN is ${word}` }),
  );
});
