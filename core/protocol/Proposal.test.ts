import { describe, expect, it } from "vitest";
import type { Digest } from "../base/Digest.ts";
import { type Actor, isSameActor, isSameLine, type RequestLine } from "./Proposal.ts";

const OTHER = "ab".repeat(32) as Digest;

describe("an actor", () => {
  const actor: Actor = { iss: "https://issuer.example", sub: "operator", jti: "1" };

  it("is the same in the same words", () => {
    expect(isSameActor(actor, { ...actor })).toBe(true);
  });

  it.each<readonly [string, Partial<Actor>]>([
    ["of another issuer", { iss: "https://other.example" }],
    ["of no issuer", { iss: undefined }],
    ["of another subject", { sub: "mallory" }],
    ["of another token", { jti: "2" }],
  ])("is another one %s", (_what, change) => {
    expect(isSameActor(actor, { ...actor, ...change })).toBe(false);
  });
});

describe("a request line", () => {
  const line: RequestLine = { method: "PUT", path: "/v1/custody/approvers", bodyDigest: OTHER };

  it("is the same in the same words", () => {
    expect(isSameLine(line, { ...line })).toBe(true);
  });

  it.each<readonly [string, Partial<RequestLine>]>([
    ["with another method", { method: "POST" }],
    ["with another path", { path: "/" }],
    ["with another body", { bodyDigest: "cd".repeat(32) as Digest }],
  ])("is another one %s", (_what, change) => {
    expect(isSameLine(line, { ...line, ...change })).toBe(false);
  });
});
