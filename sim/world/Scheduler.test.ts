import { expect, it } from "vitest";
import { Choices } from "../base/Choices.ts";
import { Scheduler } from "./Scheduler.ts";

it("runs what is due first, and what is due together in the order it was asked for", () => {
  const random = new Choices(3).plan("order");
  const scheduler = new Scheduler();
  const asked = Array.from({ length: 2_000 }, (_, order) => ({ at: random.between("at", 0, 0, 49), order }));
  const ran: Array<{ at: number; order: number }> = [];
  for (const each of asked) scheduler.after(each.at, () => ran.push({ at: scheduler.now, order: each.order }));
  while (scheduler.runNext(30));
  expect(scheduler.pending).toBe(asked.filter(({ at }) => at > 30).length);
  while (scheduler.runNext(1_000));
  expect(ran).toEqual(asked.toSorted((left, right) => left.at - right.at || left.order - right.order));
});

it("counts from now, also inside what it runs", () => {
  const scheduler = new Scheduler();
  const seen: Array<number> = [];
  scheduler.after(5, () => scheduler.after(7, () => seen.push(scheduler.now)));
  while (scheduler.runNext(100));
  scheduler.advanceTo(100);
  expect([seen, scheduler.now]).toEqual([[12], 100]);
});
