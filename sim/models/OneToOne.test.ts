import { expect, it } from "vitest";
import { OneToOne } from "./OneToOne.ts";

it("holds a name to one meaning, and a meaning to one name", () => {
  const names = new OneToOne();
  expect(names.fits("a", "key 1")).toBe(true);
  expect(names.fits("b", "key 2")).toBe(true);
  expect(names.fits("a", "key 1")).toBe(true);
  expect(names.fits("a", "key 2")).toBe(false);
  expect(names.fits("c", "key 2")).toBe(false);
  expect(names.fits("c", "key 3")).toBe(true);
});
