import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { type ActorClaims, type ActorExpectation, checkActor } from "./ActorClaims.ts";

const now = 1_800_000_000_000;
const claims: ActorClaims = {
  iss: "https://issuer.example",
  sub: "alice",
  jti: undefined,
  audience: ["custody"],
  expiresAt: now + 1,
  notBefore: undefined,
  issuedAt: undefined,
  permissions: [],
};
const expectation: ActorExpectation = { audience: "custody", issuer: "https://issuer.example", now };

describe("checkActor", () => {
  it.each<[string, Partial<ActorClaims>, Partial<ActorExpectation>]>([
    ["one millisecond before exp", {}, {}],
    ["nbf 15 s ahead", { notBefore: now + 15_000 }, {}],
    ["iat 15 s ahead", { issuedAt: now + 15_000 }, {}],
    ["one of several audiences", { audience: ["other", "custody"] }, {}],
    ["no issuer configured", { iss: undefined }, { issuer: undefined }],
    ["any issuer when none is configured", { iss: "https://other.example" }, { issuer: undefined }],
  ])("accepts %s", (_name, changed, expected) => {
    expect(checkActor({ ...claims, ...changed }, { ...expectation, ...expected })).toEqual(Either.void);
  });

  it.each<[string, Partial<ActorClaims>, Partial<ActorExpectation>, string]>([
    ["at exp", { expiresAt: now }, {}, "it has expired"],
    ["a millisecond after exp", { expiresAt: now - 1 }, {}, "it has expired"],
    ["nbf 15.001 s ahead", { notBefore: now + 15_001 }, {}, "it is not valid yet"],
    ["iat 15.001 s ahead", { issuedAt: now + 15_001 }, {}, "it was issued in the future"],
    ["no audience", { audience: [] }, {}, "it is meant for another audience"],
    ["an audience in another case", { audience: ["Custody"] }, {}, "it is meant for another audience"],
    ["an audience that only begins so", { audience: ["custody2"] }, {}, "it is meant for another audience"],
    ["no issuer", { iss: undefined }, {}, "it comes from another issuer"],
    ["another issuer", { iss: "https://issuer.example/" }, {}, "it comes from another issuer"],
    ["an exp that is no number", { expiresAt: Number.NaN }, {}, "it has expired"],
    ["an nbf that is no number", { notBefore: Number.NaN }, {}, "it is not valid yet"],
    ["an iat that is no number", { issuedAt: Number.NaN }, {}, "it was issued in the future"],
    ["a clock that is no number", {}, { now: Number.NaN }, "it has expired"],
  ])("refuses %s", (_name, changed, expected, reason) => {
    expect(checkActor({ ...claims, ...changed }, { ...expectation, ...expected })).toEqual(Either.left(reason));
  });
});
