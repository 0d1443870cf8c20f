import { beforeEach, expect, it } from "vitest";
import { VerifiedTokens } from "./VerifiedTokens.ts";

let made: number;
let tokens: VerifiedTokens<number>;
const make = (): number => {
  made += 1;
  return made;
};

beforeEach(() => {
  made = 0;
  tokens = new VerifiedTokens();
});

it("makes a value once for a token", () => {
  expect(tokens.remember("a", 1, 0, make)).toBe(1);
  expect(tokens.remember("a", 1, 59_999, make)).toBe(1);
  expect(tokens.remember("b", 1, 0, make)).toBe(2);
});

it("makes it again after a minute", () => {
  tokens.remember("a", 1, 0, make);
  expect(tokens.remember("a", 1, 60_000, make)).toBe(2);
});

it("makes it again for another key set, an older one included", () => {
  tokens.remember("a", 2, 0, make);
  expect(tokens.remember("a", 3, 0, make)).toBe(2);
  expect(tokens.remember("a", 2, 0, make)).toBe(3);
});

it("forgets the value it is told to, and only that", () => {
  const value = tokens.remember("a", 1, 0, make);
  tokens.forget("a", value + 1);
  expect(tokens.remember("a", 1, 0, make)).toBe(1);
  tokens.forget("a", value);
  expect(tokens.remember("a", 1, 0, make)).toBe(2);
});

it("holds the last 512 tokens, and never more than 1024", () => {
  const values = Array.from({ length: 1024 }, (_, index) => tokens.remember(`t${index}`, 1, 0, make));
  expect(tokens.remember("t0", 1, 0, make)).toBe(values[0]);
  tokens.remember("t1024", 1, 0, make);
  expect(tokens.remember("t513", 1, 0, make)).toBe(values[513]);
  expect(tokens.remember("t0", 1, 0, make)).toBe(1026);
});
