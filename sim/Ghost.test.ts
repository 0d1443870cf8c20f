import { describe, expect, it } from "vitest";
import { countOf, firstPeers, maskOf, MOST_PEERS, slotsOf } from "./Ghost.ts";

describe("sets of peers", () => {
  it.each([0, 1, 3, 31, MOST_PEERS])("hold the first %d", (count) => {
    const expected = Array.from({ length: count }, (_, index) => index + 1);
    expect(slotsOf(firstPeers(count))).toEqual(expected);
    expect(expected.reduce((mask, slot) => mask | maskOf(slot), 0)).toBe(firstPeers(count));
    expect(countOf(firstPeers(count))).toBe(count);
  });

  it("hold the last peer alone, and everybody but it", () => {
    expect(slotsOf(maskOf(MOST_PEERS))).toEqual([MOST_PEERS]);
    expect(firstPeers(MOST_PEERS) & ~maskOf(MOST_PEERS)).toBe(firstPeers(MOST_PEERS - 1));
  });
});
