import { describe, expect, it } from "vitest";
import { FlushTimes } from "./FlushTimes.ts";

const after = (...millis: ReadonlyArray<number>) => {
  const times = new FlushTimes();
  for (const each of millis) times.add(each);
  return times.summary;
};

describe("the times of flushes", () => {
  it("are unknown before the first", () => {
    expect(after()).toBeNull();
  });

  it("have a median that one slow flush does not move, and the last", () => {
    expect(after(1, 2, 900.126)).toEqual({ count: 3, lastMillis: 900.13, medianMillis: 2 });
  });

  it("forget the oldest", () => {
    const slowThenFast = [...Array.from({ length: 300 }, () => 50), ...Array.from({ length: 255 }, () => 1)];
    expect(after(...slowThenFast)).toEqual({ count: 555, lastMillis: 1, medianMillis: 1 });
    expect(after(...slowThenFast.slice(0, 400))?.medianMillis).toBe(50);
  });
});
