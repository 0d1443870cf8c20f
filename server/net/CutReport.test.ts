import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { jsonLog } from "../peer/Log.ts";
import { CutReport } from "./CutReport.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("connections that were cut off", () => {
  it("are counted each, and logged at once and then once a minute, with their numbers", () => {
    const lines: Array<unknown> = [];
    const counted: Array<string> = [];
    const log = jsonLog(
      "info",
      (line) => void lines.push(JSON.parse(line)),
      () => 0,
    );
    const report = new CutReport({ listener: "http", log, count: (reason) => void counted.push(reason) });
    report.add("handshake");
    const line = (more: object) => ({
      time: "1970-01-01T00:00:00.000Z",
      level: "warn",
      event: "connections cut off",
      listener: "http",
      ...more,
    });
    expect(lines).toEqual([line({ handshake: 1 })]);
    for (let index = 0; index < 1_000; index++) report.add("tooMany");
    report.add("slowReader");
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(59_999);
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(lines.slice(1)).toEqual([line({ tooMany: 1_000, slowReader: 1 })]);
    vi.advanceTimersByTime(120_000);
    expect(lines).toHaveLength(2);
    report.add("slowRequest");
    expect(lines.slice(2)).toEqual([line({ slowRequest: 1 })]);
    expect(counted).toHaveLength(1_003);
  });
});
