import { expect, it } from "vitest";
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";
import { plainOf } from "./Until.ts";

it("shows maps, sets and bytes as JSON has them", () => {
  const state = { locks: new Map([["key:1", "p"]]), others: new Set([2, 3]), hash: Uint8Array.of(0, 255) };
  expect(plainOf(state)).toEqual({ locks: { "key:1": "p" }, others: [2, 3], hash: "00ff" });
});

it("shows no bearer token and no key material, wherever they are", () => {
  const state = {
    awaited: new Map([["r1", { forward: { token: "anything", call: { path: "/v1" } } }]]),
    vault: Uint8Array.of(1, 2, 3),
    error: `a token ${TOKEN_MARK}7 was refused`,
  };
  const shown = JSON.stringify(plainOf(state));
  expect(shown).not.toContain("anything");
  expect(shown).not.toContain("010203");
  expect(shown).not.toContain(TOKEN_MARK);
  expect(shown).toContain("/v1");
});
