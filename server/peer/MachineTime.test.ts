import { describe, expect, it } from "vitest";
import { pauses } from "./MachineTime.ts";

describe("work that always goes on", () => {
  it("lets others in after some milliseconds", () => {
    let now = 0;
    let due: Array<() => void> = [];
    const giveWay = pauses({
      elapsedMillis: () => now,
      later: (run) => {
        due.push(run);
        return () => undefined;
      },
    });
    const pass = () => {
      const runs = due;
      due = [];
      for (const run of runs) run();
    };
    let resumed = 0;
    const goOn = () => void (resumed += 1);
    expect(giveWay(goOn)).toBe(false);
    now = 3;
    expect(giveWay(goOn)).toBe(false);
    now = 4;
    expect(giveWay(goOn)).toBe(true);
    expect(resumed).toBe(0);
    pass();
    expect(resumed).toBe(1);
    // A stretch that ended by itself is over, however long ago it began.
    expect(giveWay(goOn)).toBe(false);
    pass();
    now = 100;
    expect(giveWay(goOn)).toBe(false);
  });
});
