import { describe, expect, it } from "vitest";
import {
  commonVersion,
  isSpoken,
  versionFault,
  versionFor,
  versionForAll,
  versionFrom,
  type Versions,
} from "./Versions.ts";

const from = (lowest: number, highest: number): Versions => ({ lowest, highest });

describe("two programs", () => {
  it.each([
    [from(1, 2), from(1, 2), 2],
    [from(1, 2), from(1, 1), 1],
    [from(1, 2), from(2, 3), 2],
    [from(2, 3), from(3, 4), 3],
    [from(1, 2), from(3, 4), undefined],
    [from(3, 3), from(1, 2), undefined],
  ])("have the newest version in common that both speak: %o and %o", (one, other, common) => {
    expect(commonVersion(one, other)).toBe(common);
    expect(commonVersion(other, one)).toBe(common);
    expect(versionFor(one, other)).toBe(common ?? one.lowest);
  });

  it("begin with the oldest they speak", () => {
    expect(versionFor(from(2, 3), undefined)).toBe(2);
  });

  it("say what is new to a peer that has it, or of which nothing is known, and to no other", () => {
    expect(versionFrom(3, from(2, 4), from(2, 3))).toBe(3);
    expect(versionFrom(3, from(2, 4), from(2, 4))).toBe(4);
    expect(versionFrom(3, from(2, 4), from(1, 2))).toBeUndefined();
    expect(versionFrom(3, from(2, 4), undefined)).toBe(3);
    expect(versionFrom(1, from(2, 4), undefined)).toBe(2);
  });

  it("are told apart where they have none", () => {
    expect(versionFault(from(1, 2), undefined)).toBeUndefined();
    expect(versionFault(from(1, 2), from(2, 3))).toBeUndefined();
    expect(versionFault(from(2, 2), from(3, 4))).toBe("it speaks versions 3 to 4 of the protocol, this peer version 2");
  });

  it("speak from the lowest to the highest", () => {
    expect([1, 2, 3, 4].map((version) => isSpoken(from(2, 3), { version }))).toEqual([false, true, true, false]);
  });
});

describe("what is made for all", () => {
  it("is made in the newest version that all are known to speak", () => {
    const spoken = new Map([
      [2, from(1, 2)],
      [3, from(1, 1)],
    ]);
    expect(versionForAll(from(1, 2), [], spoken)).toBe(2);
    expect(versionForAll(from(1, 2), [2], spoken)).toBe(2);
    expect(versionForAll(from(1, 2), [2, 3], spoken)).toBe(1);
    expect(versionForAll(from(1, 2), [2, 4], spoken)).toBe(1);
  });
});
