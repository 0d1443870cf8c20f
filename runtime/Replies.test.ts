import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../core/Action.ts";
import { later } from "../server/peer/MachineTime.ts";
import { Replies } from "./Replies.ts";

const done: Answer = { _tag: "Initialized" };
const late: Answer = { _tag: "Readiness", faults: [] };

let told: Array<readonly [string, Answer]>;
const fresh = () => {
  let count = 0;
  return new Replies({ later, newName: () => `r${++count}` });
};
/** Asks for `name`, and tells the name of the request. */
const ask = (replies: Replies, name: string): string => {
  let requestId = "";
  replies.ask(
    (id) => void (requestId = id),
    1_000,
    late,
    (answer) => void told.push([name, answer]),
  );
  return requestId;
};

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
});
afterEach(() => void vi.useRealTimers());

describe("callers that wait", () => {
  it("get their own answer, once", () => {
    const replies = fresh();
    const [first, second] = [ask(replies, "first"), ask(replies, "second")];
    expect([first, second, replies.size]).toEqual(["r1", "r2", 2]);
    replies.answer(second, done);
    replies.answer(second, late);
    replies.answer("unknown", late);
    replies.answer(first, late);
    expect(told).toEqual([
      ["second", done],
      ["first", late],
    ]);
    expect([replies.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it("are answered even when it is given at once, or never", () => {
    const replies = fresh();
    replies.ask(
      (id) => replies.answer(id, done),
      1_000,
      late,
      (answer) => void told.push(["at once", answer]),
    );
    expect([told, vi.getTimerCount()]).toEqual([[["at once", done]], 0]);
    const silent = ask(replies, "never");
    vi.advanceTimersByTime(999);
    expect([told.length, replies.size]).toEqual([1, 1]);
    vi.advanceTimersByTime(1);
    replies.answer(silent, done);
    expect(told.slice(1)).toEqual([["never", late]]);
    expect([replies.size, vi.getTimerCount()]).toEqual([0, 0]);
  });
});
