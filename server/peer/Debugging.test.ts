import { describe, expect, it } from "vitest";
import { debuggingFault } from "./Debugging.ts";

describe("a process that is to hold private keys", () => {
  it.each([
    ["--inspect"],
    ["--inspect-brk=0.0.0.0:9229"],
    ["--inspect_wait"],
    ["--heapsnapshot-signal=SIGUSR2"],
    ["--heapsnapshot-near-heap-limit=3"],
  ])("is not started with %s", (word) => {
    expect(debuggingFault(["--max-old-space-size=512", word], undefined)).toContain("NODE_OPTIONS");
  });

  it("is not one whose debugger is open", () => {
    expect(debuggingFault([], "ws://127.0.0.1:9229/x")).toContain("debugger");
  });

  it("may be started with what opens nothing", () => {
    expect(debuggingFault(["--import", "tsx", "--max-old-space-size=512"], undefined)).toBeUndefined();
  });
});
