import { describe, expect, it } from "vitest";
import { jsonLog } from "./Log.ts";

describe("the log", () => {
  it("writes one line of JSON for each event from its level on", () => {
    const lines: Array<string> = [];
    const log = jsonLog(
      "warn",
      (line) => void lines.push(line),
      () => 0,
    );
    log.debug("no");
    log.info("no");
    log.warn("first", { peerId: 2, reason: "two\nlines" });
    log.error("second", { missing: undefined });
    expect(lines).toEqual([
      '{"time":"1970-01-01T00:00:00.000Z","level":"warn","event":"first","peerId":2,"reason":"two\\nlines"}\n',
      '{"time":"1970-01-01T00:00:00.000Z","level":"error","event":"second"}\n',
    ]);
  });
});
