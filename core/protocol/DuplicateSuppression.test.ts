import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { forgotten, isFromBefore, noteFirstHeard, noteForgotten } from "./DuplicateSuppression.ts";
import type { Moment } from "./Moment.ts";

const [first, second] = ["a1".repeat(32) as Digest, "b2".repeat(32) as Digest];
const at = (millis: number, process = first): Moment => ({ process, at: millis });

/** A step of peer 1, which has first heard of a process of peer 2 at 100 ms, and has not heard of any peer 3. */
const stepOfOne = () => {
  const cluster = new Cluster(2);
  cluster.pass(2_000);
  const step = openStep(cluster, 1);
  step.edit("requests", "forgottenUntil").clear();
  noteFirstHeard(step, 2, at(100));
  return step;
};
const isFrom = (step: ReturnType<typeof stepOfOne>, arrival: Moment, entryPeer = 2) =>
  isFromBefore(step, { entryPeer, arrival });

describe("a forwarded request may be a duplicate", () => {
  it("where it came in no later than its entry peer's process first answered this one", () => {
    const step = stepOfOne();
    expect([isFrom(step, at(100)), isFrom(step, at(101))]).toEqual([true, false]);
    // This peer's own requests come from no other.
    expect(isFrom(step, at(0), 1)).toBe(false);
  });

  it("by when that was first heard of, not by any time later, nor by an answer that says nothing of it", () => {
    const step = stepOfOne();
    noteFirstHeard(step, 2, at(5_000));
    noteFirstHeard(step, 2, undefined);
    expect(isFrom(step, at(101))).toBe(false);
  });

  it("whenever it came in at another process of its entry peer than the last one heard of", () => {
    const step = stepOfOne();
    expect(isFrom(step, at(9_000, second))).toBe(true);
    noteFirstHeard(step, 2, at(7, second));
    expect([isFrom(step, at(9_000)), isFrom(step, at(7, second)), isFrom(step, at(8, second))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("whenever it came in, from a peer that this process has not heard of", () => {
    const step = stepOfOne();
    noteForgotten(step, { entryPeer: 3, arrival: at(0) });
    expect(isFrom(step, at(3_600_000), 3)).toBe(true);
  });

  it("where a refusal of one that came in later was forgotten, and not by one that came in earlier or elsewhere", () => {
    const step = stepOfOne();
    for (const arrival of [at(200), at(150), at(900, second)]) noteForgotten(step, { entryPeer: 2, arrival });
    expect([isFrom(step, at(200)), isFrom(step, at(201))]).toEqual([true, false]);
  });

  it("and its caller is told who does not remember", () => {
    expect(forgotten(stepOfOne(), "ref")).toMatchObject({
      members: [{ peerId: 1, reason: expect.stringContaining("no longer") }],
    });
  });
});
