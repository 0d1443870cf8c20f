/** A process whose memory grows is found, one that breathes is not. */
import { describe, expect, it } from "vitest";
import { courseOf, memoryFault, memoryLine } from "./Memory.ts";
import type { MemorySample } from "./PortFiles.ts";

const MIB = 1024 * 1024;

/** Samples every five seconds. */
const samples = (
  seconds: number,
  used: (second: number) => number,
  resident: (second: number) => number = () => 200,
): MemorySample[] =>
  Array.from({ length: Math.floor(seconds / 5) }, (_, index) => {
    const second = 5 * (index + 1);
    return { at: 1000 * second, used: used(second) * MIB, resident: resident(second) * MIB };
  });

const faultOf = (given: ReadonlyArray<MemorySample>, approvers = 0): string | undefined => {
  const course = courseOf(given);
  if (course === undefined) throw new Error("it is too short");
  return memoryFault(course, approvers);
};

describe("the memory of a process", () => {
  it("is flat while it warms up, breathes, and has a peak", () => {
    expect(faultOf(samples(300, (second) => (second < 25 ? second : 50)))).toBeUndefined();
    expect(faultOf(samples(300, (second) => 50 + 8 * Math.sin(second)))).toBeUndefined();
    expect(faultOf(samples(300, (second) => (second === 295 ? 200 : 50)))).toBeUndefined();
    expect(
      faultOf(
        samples(
          300,
          () => 50,
          (second) => 150 + (second % 50),
        ),
      ),
    ).toBeUndefined();
  });

  it("is not flat with a leak: 12 MiB a minute of what is held, or 60 of what is resident", () => {
    expect(faultOf(samples(300, (second) => 50 + second / 5))).toMatch(/^it held 42\.0 MiB more after 270 s/);
    // What is known of the rows of ten thousand approvers takes 18 MiB.
    expect(
      faultOf(
        samples(300, (second) => 50 + second / 5),
        10_000,
      ),
    ).toBeUndefined();
    expect(
      faultOf(
        samples(300, (second) => 50 + second / 4),
        10_000,
      ),
    ).toMatch(/^it held/);
    expect(
      faultOf(
        samples(
          300,
          () => 50,
          (second) => 150 + second,
        ),
      ),
    ).toMatch(/MiB more were resident/);
  });

  it("is not judged of a process that lived for less than a minute once it was warm", () => {
    expect(courseOf(samples(85, () => 50))).toBeUndefined();
    expect(courseOf([])).toBeUndefined();
    const course = courseOf(samples(95, () => 50));
    expect(course && memoryLine(course)).toBe("in 65 s from 50.0 to 50.0 MiB held, 200.0 to 200.0 resident");
  });
});
