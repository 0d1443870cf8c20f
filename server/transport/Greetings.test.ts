import { expect, it } from "vitest";
import { GREETING_MILLIS, Greetings, MOST_GREETED } from "./Greetings.ts";

it("begins so many sessions at once and one more in each interval, of strangers beside those of members", () => {
  let now = 0;
  const greetings = new Greetings(() => now);
  const taken = (isProven: boolean, address = "one"): number =>
    Array.from({ length: 2 * MOST_GREETED }, () => greetings.take(address, isProven)).filter(Boolean).length;
  expect([taken(false), taken(true), taken(false)]).toEqual([MOST_GREETED, MOST_GREETED, 0]);
  // Nor does one address take what others need.
  expect(taken(false, "another")).toBe(MOST_GREETED);
  now += GREETING_MILLIS - 1;
  expect(taken(false)).toBe(0);
  now += 1;
  expect(taken(false)).toBe(1);
  now += 1_000_000;
  expect(taken(false)).toBe(MOST_GREETED);
});
