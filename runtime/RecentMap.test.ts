import { describe, expect, it } from "vitest";
import { RecentMap } from "./RecentMap.ts";

const filled = (limit: number, count: number): RecentMap<number> => {
  const map = new RecentMap<number>(limit);
  for (let key = 1; key <= count; key++) map.set(String(key), key);
  return map;
};

const kept = (map: RecentMap<number>, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => index + 1).filter((key) => map.get(String(key)) === key);

describe("a map of what was set lately", () => {
  it("keeps the last keys and never more than twice as many", () => {
    for (let count = 1; count <= 50; count++) {
      const keys = kept(filled(8, count), count);
      expect(keys.length).toBeGreaterThanOrEqual(Math.min(count, 8));
      expect(keys.length).toBeLessThanOrEqual(16);
      expect(keys.slice(-8)).toEqual(Array.from({ length: Math.min(count, 8) }, (_, at) => count - at).toReversed());
    }
    expect(kept(filled(8, 16), 16).length).toBe(16);
    expect(kept(filled(8, 17), 17).length).toBe(9);
  });

  it("gives the newest value of a key, whichever half it lay in", () => {
    const map = filled(2, 3);
    expect(map.get("1")).toBe(1);
    map.set("1", 10);
    expect(map.get("1")).toBe(10);
    map.set("1", 11);
    expect(map.get("1")).toBe(11);
  });

  it("forgets a deleted key in both halves, and everything when it is cleared", () => {
    const map = filled(2, 3);
    map.set("1", 10);
    map.delete("1");
    expect(map.get("1")).toBeUndefined();
    map.clear();
    expect(kept(map, 3)).toEqual([]);
  });

  it("does not forget because a key is set again", () => {
    const map = filled(2, 2);
    for (let again = 0; again < 10; again++) map.set("2", 2);
    expect(kept(map, 2)).toEqual([1, 2]);
  });
});
