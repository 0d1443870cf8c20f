import { beforeEach, expect, it } from "vitest";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { VerifiedTokens } from "./VerifiedTokens.ts";

const claims: ActorClaims = {
  iss: undefined,
  sub: "alice",
  jti: undefined,
  audience: [],
  expiresAt: 1,
  notBefore: undefined,
  issuedAt: undefined,
  permissions: [],
};

let tokens: VerifiedTokens;
beforeEach(() => {
  tokens = new VerifiedTokens();
});

it("knows a token that was verified, and no other; of two times, the latter", () => {
  tokens.set("a", { claims, generation: 1 });
  expect(tokens.get("a")).toEqual({ claims, generation: 1 });
  tokens.set("a", { claims, generation: 2 });
  expect(tokens.get("a")).toEqual({ claims, generation: 2 });
  expect(tokens.get("b")).toBeUndefined();
});

it("holds the last 512 tokens, and never more than 1024", () => {
  for (let index = 0; index <= 1024; index++) tokens.set(`t${index}`, { claims, generation: 1 });
  const held = Array.from({ length: 1025 }, (_, index) => tokens.get(`t${index}`) !== undefined);
  expect(held.lastIndexOf(false)).toBe(511);
  expect(held.filter(Boolean)).toHaveLength(513);
});

it("holds fewer of longer ones: the last million characters, and never more than two", () => {
  const longest = "x".repeat(16 * 1024 - 4);
  const of = (index: number): string => longest + String(index).padStart(4, "0");
  for (let index = 0; index < 200; index++) tokens.set(of(index), { claims, generation: 1 });
  const held = Array.from({ length: 200 }, (_, index) => tokens.get(of(index)) !== undefined);
  expect(held.lastIndexOf(false)).toBe(127);
  expect(held.filter(Boolean)).toHaveLength(72);
});
