import { afterEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../core/Action.ts";
import { Replies } from "./Replies.ts";

const done: Answer = { _tag: "Initialized" };
const late: Answer = { _tag: "Readiness", faults: [] };

afterEach(() => {
  vi.useRealTimers();
});

describe("callers that wait", () => {
  it("get their own answer, once, under ids that never repeat", async () => {
    const replies = new Replies();
    const ids: Array<string> = [];
    const [first, second] = [1, 2].map(() => replies.ask((id) => void ids.push(id), 1_000, late));
    expect([new Set(ids).size, replies.size]).toEqual([2, 2]);
    replies.answer(ids[1] ?? "", done);
    replies.answer(ids[1] ?? "", late);
    replies.answer("unknown", late);
    expect(await second).toBe(done);
    replies.answer(ids[0] ?? "", late);
    expect(await first).toBe(late);
    expect(replies.size).toBe(0);
    const other = new Replies();
    void other.ask((id) => void ids.push(id), 1_000, late);
    other.answer(ids[2] ?? "", done);
    expect(new Set(ids).size).toBe(3);
  });

  it("are answered even when it is given at once, or never", async () => {
    vi.useFakeTimers();
    const replies = new Replies();
    expect(await replies.ask((id) => replies.answer(id, done), 1_000, late)).toBe(done);
    expect(vi.getTimerCount()).toBe(0);
    const silent = replies.ask(() => undefined, 1_000, late);
    vi.advanceTimersByTime(999);
    expect(replies.size).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await silent).toBe(late);
    expect([replies.size, vi.getTimerCount()]).toEqual([0, 0]);
  });
});
