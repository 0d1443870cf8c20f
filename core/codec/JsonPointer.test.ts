import { expect, it } from "vitest";
import { longestPointer, memberPointer } from "./JsonPointer.ts";

it("escapes as RFC 6901 section 5 shows", () => {
  const keys = ["foo", "", "a/b", "c%d", "e^f", "g|h", "i\\j", 'k"l', " ", "m~n", "~1"];
  expect(keys.map((key) => memberPointer("", key))).toEqual([
    "/foo",
    "/",
    "/a~1b",
    "/c%d",
    "/e^f",
    "/g|h",
    "/i\\j",
    '/k"l',
    "/ ",
    "/m~0n",
    "/~01",
  ]);
});

it("goes on from the pointer of the container", () => {
  expect(memberPointer(memberPointer("/a", 0), "b")).toBe("/a/0/b");
});

it("stays at the container where it would become longer than 1024", () => {
  expect(longestPointer).toBe(1024);
  expect(memberPointer("/a", "k".repeat(1021))).toHaveLength(1024);
  expect(memberPointer("/a", "k".repeat(1022))).toBe("/a");
  // Escaping makes a key longer than it looks.
  expect(memberPointer("/a", `/${"k".repeat(1019)}`)).toHaveLength(1024);
  expect(memberPointer("/a", `/${"k".repeat(1020)}`)).toBe("/a");
});
