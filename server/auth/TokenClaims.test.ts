import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parseTokenClaims } from "./TokenClaims.ts";

const parse = (payload: string) => parseTokenClaims(new TextEncoder().encode(payload));
const claims = { sub: "alice", aud: "custody", exp: 1_800_000_000 };
const parseWith = (more: Readonly<Record<string, unknown>>) => parse(JSON.stringify({ ...claims, ...more }));

describe("parseTokenClaims", () => {
  it("reads a full set, times as milliseconds", () => {
    const full = { iss: "i", jti: "j", nbf: 1_700_000_000, iat: 1_700_000_000.5, permissions: ["a.b"], extra: [{}] };
    expect(parseWith(full)).toEqual(
      Either.right({
        iss: "i",
        sub: "alice",
        jti: "j",
        audience: ["custody"],
        expiresAt: 1_800_000_000_000,
        notBefore: 1_700_000_000_000,
        issuedAt: 1_700_000_000_500,
        permissions: ["a.b"],
      }),
    );
  });

  it("takes absent permissions as none, and several audiences", () => {
    const parsed = Either.getOrThrow(parseWith({ aud: ["a", "b"] }));
    expect(parsed.permissions).toEqual([]);
    expect(parsed.audience).toEqual(["a", "b"]);
  });

  it("never lets a token live longer than exp says", () => {
    expect(Either.getOrThrow(parseWith({ exp: 1_800_000_000.9999 })).expiresAt).toBe(1_800_000_000_999);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ["sub", { sub: undefined }],
    ["aud", { aud: undefined }],
    ["exp", { exp: undefined }],
    ["sub", { sub: "" }],
    ["sub", { sub: 1 }],
    ["sub", { sub: null }],
    ["iss", { iss: ["a"] }],
    ["iss", { iss: null }],
    ["jti", { jti: 5 }],
    ["aud", { aud: { custody: true } }],
    ["aud", { aud: [1] }],
    ["aud", { aud: "" }],
    ["exp", { exp: "1800000000" }],
    ["exp", { exp: 8_640_000_000_001 }],
    ["exp", { exp: true }],
    ["nbf", { nbf: null }],
    ["iat", { iat: "now" }],
    ["permissions", { permissions: "service.approvers.register" }],
    ["permissions", { permissions: null }],
    ["permissions", { permissions: { 0: "a" } }],
    ["permissions", { permissions: [["a"]] }],
    ["permissions", { permissions: ["a", 1] }],
    ["permissions", { permissions: [""] }],
  ])("names a bad %s: %j", (name, more) => {
    expect(Either.getOrThrow(Either.flip(parseWith(more)))).toMatch(new RegExp(`^its ${name} `));
  });

  it.each<[string, (size: number) => Readonly<Record<string, unknown>>, number]>([
    ["sub", (size) => ({ sub: "s".repeat(size) }), 1024],
    ["sub in bytes", (size) => ({ sub: `${"s".repeat(size - 2)}é` }), 1024],
    ["iss", (size) => ({ iss: "s".repeat(size) }), 2048],
    ["jti", (size) => ({ jti: "s".repeat(size) }), 1024],
    ["audiences", (size) => ({ aud: Array.from({ length: size }, () => "a") }), 64],
    ["one audience", (size) => ({ aud: "a".repeat(size) }), 1024],
    ["one of several audiences", (size) => ({ aud: ["a".repeat(size)] }), 1024],
    ["permissions", (size) => ({ permissions: Array.from({ length: size }, () => "a") }), 1024],
    ["permission", (size) => ({ permissions: ["a".repeat(size)] }), 256],
  ])("bounds %s", (_name, make, limit) => {
    expect(Either.isRight(parseWith(make(limit)))).toBe(true);
    expect(Either.isLeft(parseWith(make(limit + 1)))).toBe(true);
  });

  it.each([
    ["an array", "[]"],
    ["a text", '"alice"'],
    ["nothing", ""],
    ["trailing bytes", `${JSON.stringify(claims)}x`],
    ["a claim given twice", '{"sub":"alice","sub":"root","aud":"custody","exp":1800000000}'],
    ["deep nesting", `{"sub":${"[".repeat(100)}${"]".repeat(100)}}`],
  ])("refuses %s", (_name, payload) => {
    expect(parse(payload)).toEqual(Either.left("its payload is not a JSON object"));
  });
});
