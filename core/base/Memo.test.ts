import { expect, it } from "vitest";
import { memoized } from "./Memo.ts";

const counted = () => {
  let made = 0;
  const numbered = memoized((key: { readonly name: string }, first: number, second: string | undefined) => {
    made += 1;
    return `${made} ${key.name} ${first} ${second}`;
  });
  return numbered;
};

it("computes once for one object and the same values beside it", () => {
  const numbered = counted();
  const [one, other] = [{ name: "a" }, { name: "a" }];
  expect(numbered(one, 5, undefined)).toBe("1 a 5 undefined");
  expect(numbered(one, 5, undefined)).toBe("1 a 5 undefined");
  expect(numbered(other, 5, undefined)).toBe("2 a 5 undefined");
  expect(numbered(one, 5, undefined)).toBe("1 a 5 undefined");
});

it("computes again where one of the values is another than the last time", () => {
  const numbered = counted();
  const key = { name: "a" };
  numbered(key, 5, "x");
  expect(numbered(key, 6, "x")).toBe("2 a 6 x");
  expect(numbered(key, 6, "y")).toBe("3 a 6 y");
  expect(numbered(key, 6, "y")).toBe("3 a 6 y");
  expect(numbered(key, 5, "x")).toBe("4 a 5 x");
});

it("does not look at what follows from the values beside it", () => {
  const told = memoized((_key: object, _first: number, _second: number, { name }: { readonly name: string }) => name);
  const key = {};
  expect([told(key, 1, 2, { name: "a" }), told(key, 1, 2, { name: "b" })]).toEqual(["a", "a"]);
  expect(told(key, 1, 3, { name: "b" })).toBe("b");
});

it("keeps a result that is nothing, and none that was thrown", () => {
  let asked = 0;
  const nothing = memoized((_key: object) => {
    asked += 1;
    if (asked === 1) throw new Error("not yet");
    return undefined;
  });
  const key = {};
  expect(() => nothing(key)).toThrow("not yet");
  expect([nothing(key), nothing(key), asked]).toEqual([undefined, undefined, 2]);
});
