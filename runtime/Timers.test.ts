import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TimerName } from "../core/protocol/Event.ts";
import { later } from "../server/peer/MachineTime.ts";
import { Timers } from "./Timers.ts";

const one: TimerName = "join";
const other: TimerName = "probe";
let fired: Array<TimerName>;
let timers: Timers;
beforeEach(() => {
  vi.useFakeTimers();
  fired = [];
  timers = new Timers(later, (timer) => void fired.push(timer));
});
afterEach(() => void vi.useRealTimers());

describe("a timer of the protocol", () => {
  it("fires once, after its delay", () => {
    timers.set(one, 100);
    vi.advanceTimersByTime(99);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(fired).toEqual([one]);
  });

  it("that is set again fires at the new time alone, be it later, sooner or at once", () => {
    timers.set(one, 100);
    timers.set(one, 300);
    vi.advanceTimersByTime(299);
    expect(fired).toEqual([]);
    timers.set(one, 50);
    vi.advanceTimersByTime(50);
    expect(fired).toEqual([one]);
    timers.set(one, 100);
    timers.set(one, 0);
    vi.advanceTimersByTime(0);
    expect(fired).toEqual([one, one]);
    timers.set(one, 0);
    timers.set(one, 100);
    vi.advanceTimersByTime(99);
    expect(fired).toEqual([one, one]);
    vi.advanceTimersByTime(1_000);
    expect([fired, vi.getTimerCount()]).toEqual([[one, one, one], 0]);
  });

  it("leaves those of other names alone", () => {
    timers.set(one, 100);
    timers.set(other, 200);
    timers.set(one, 150);
    vi.advanceTimersByTime(200);
    expect(fired).toEqual([one, other]);
  });

  it("may be set from where it fires", () => {
    const again = new Timers(later, (timer) => {
      fired.push(timer);
      if (fired.length < 3) again.set(timer, 10);
    });
    again.set(one, 10);
    vi.advanceTimersByTime(100);
    expect([fired, vi.getTimerCount()]).toEqual([[one, one, one], 0]);
  });

  it("never fires after all were cleared, those due at once among them", () => {
    timers.set(one, 100);
    timers.set(other, 0);
    timers.clear();
    vi.advanceTimersByTime(1_000);
    expect([fired, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
