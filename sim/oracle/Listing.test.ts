import { expect, it } from "vitest";
import type { Rows } from "../../core/Tables.ts";
import { fits, pageFault, textOfWanted, Walk, type Wanted } from "./Listing.ts";

const ALL: Wanted = { id: undefined, type: undefined, metadata: [] };
const approver = (metadata: Rows["approvers"]["metadata"], type = "SIGNATURE") =>
  ({ id: "a", descriptor: `{"type":"${type}","version":1}`, metadata }) as unknown as Rows["approvers"];

it("takes a filter for everything that it asks for", () => {
  const both = approver([
    ["site", "north"],
    ["team", "t1"],
  ]);
  const wanted = (metadata: Wanted["metadata"]): Wanted => ({ ...ALL, metadata });
  expect(fits(ALL, both)).toBe(true);
  expect(fits(wanted([["team", "t1"]]), both)).toBe(true);
  expect(
    fits(
      wanted([
        ["team", "t1"],
        ["site", "north"],
      ]),
      both,
    ),
  ).toBe(true);
  expect(
    fits(
      wanted([
        ["team", "t1"],
        ["site", "south"],
      ]),
      both,
    ),
  ).toBe(false);
  expect(fits(wanted([["toString", ""]]), both)).toBe(false);
  expect(fits({ ...ALL, id: "a", type: "SIGNATURE" }, both)).toBe(true);
  expect(fits({ ...ALL, id: "" }, both)).toBe(false);
  expect(fits({ ...ALL, type: "WEBAUTHN" }, both)).toBe(false);
  expect(fits({ ...ALL, type: "WEBAUTHN" }, approver([], "WEBAUTHN"))).toBe(true);
});

it("has one text for a filter, in whatever order it names metadata", () => {
  const left = {
    ...ALL,
    metadata: [
      ["a", "1"],
      ["b", "2"],
    ] as const,
  };
  const right = {
    ...ALL,
    metadata: [
      ["b", "2"],
      ["a", "1"],
    ] as const,
  };
  expect(textOfWanted(left)).toBe(textOfWanted(right));
  expect(textOfWanted(left)).not.toBe(textOfWanted({ ...ALL, metadata: [["a", "1"]] }));
});

it("finds what a page leaves out, shows twice or must not show", () => {
  const page = (steady: string, ever = steady, after = "") => ({
    wanted: ALL,
    limit: 2,
    mayBeShort: false,
    after,
    steady: new Set(steady),
    ever: new Set(ever),
  });
  const fault = (shown: string, isLast: boolean, of = page("abc")) => pageFault(of, [...shown], isLast);
  expect(fault("ab", false)).toBeUndefined();
  expect(fault("c", true, page("abc", "abc", "b"))).toBeUndefined();
  expect(fault("", true, page(""))).toBeUndefined();
  // Little work was allowed for it, which is no reason to leave anything out.
  expect(fault("a", false)).toMatch("it shows 1 and another page is to follow");
  expect(fault("a", false, { ...page("abc"), mayBeShort: true })).toBeUndefined();
  expect(fault("b", false, { ...page("abc"), mayBeShort: true })).toMatch("leaves out a");
  // Something came, or went, while the page was being read.
  for (const shown of ["ab", "bc"]) expect(fault(shown, true, page("b", "abc"))).toBeUndefined();
  expect(fault("ac", true)).toMatch("leaves out b");
  expect(fault("a", true)).toMatch("leaves out b");
  expect(fault("ba", false)).toMatch("shows a behind b");
  expect(fault("aa", false)).toMatch("shows a behind a");
  expect(fault("ab", false, page("abc", "abc", "a"))).toMatch("shows a behind a");
  expect(fault("ad", false)).toMatch("which did not fit");
  expect(fault("abc", true)).toMatch("shows 3");
  expect(fault("a", false)).toMatch("another page is to follow");
  expect(fault("bc", false, page("bc"))).toMatch("nothing more fitted");
});

it("finds what a whole list never shows, although every page may be right", () => {
  const walk = (lost: string, isFitting = false) => {
    const all = new Walk(ALL);
    all.asks(new Set("abc"), "");
    expect(all.shows(["a"], false)).toBeUndefined();
    all.changed(lost, isFitting);
    all.asks(new Set("abcd"), "a");
    return all;
  };
  expect(walk("b").shows(["c"], true)).toBeUndefined();
  expect(walk("b", true).shows(["c"], true)).toMatch("never shown b");
  expect(walk("b", true).hasChanged).toBe(true);
  expect(walk("b").shows(["a"], false)).toMatch("a twice");
  expect(walk("c").shows(["d"], true)).toMatch("never shown b");
});
