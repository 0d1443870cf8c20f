import { describe, expect, it } from "vitest";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import type { Digest } from "../base/Digest.ts";
import { forgotten, isFromBefore, noteFirstHeard, noteForgotten } from "./LateCopy.ts";
import type { Moment } from "./Moment.ts";

const [first, second] = ["a1".repeat(32) as Digest, "b2".repeat(32) as Digest];
const at = (millis: number, process = first): Moment => ({ process, at: millis });

/** A turn of peer 1, which has first heard of a process of peer 2 at 100 ms, and has not heard of any peer 3. */
const turnOfOne = () => {
  const cluster = new Cluster(2);
  cluster.pass(2_000);
  const turn = turnOf(cluster, 1);
  turn.edit("requests", "forgottenUntil").clear();
  noteFirstHeard(turn, 2, at(100));
  return turn;
};
const isFrom = (turn: ReturnType<typeof turnOfOne>, arrival: Moment, entryPeer = 2) =>
  isFromBefore(turn, { entryPeer, arrival });

describe("a forwarded request may be a late copy", () => {
  it("where it came in no later than its entry peer's process first answered this one", () => {
    const turn = turnOfOne();
    expect([isFrom(turn, at(100)), isFrom(turn, at(101))]).toEqual([true, false]);
    // This peer's own come from nobody.
    expect(isFrom(turn, at(0), 1)).toBe(false);
  });

  it("by when that was first heard of, not by any time later, nor by an answer that says nothing of it", () => {
    const turn = turnOfOne();
    noteFirstHeard(turn, 2, at(5_000));
    noteFirstHeard(turn, 2, undefined);
    expect(isFrom(turn, at(101))).toBe(false);
  });

  it("whenever it came in at another process of its entry peer than the last one heard of", () => {
    const turn = turnOfOne();
    expect(isFrom(turn, at(9_000, second))).toBe(true);
    noteFirstHeard(turn, 2, at(7, second));
    expect([isFrom(turn, at(9_000)), isFrom(turn, at(7, second)), isFrom(turn, at(8, second))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("whenever it came in, from a peer that this process has not heard of", () => {
    const turn = turnOfOne();
    noteForgotten(turn, { entryPeer: 3, arrival: at(0) });
    expect(isFrom(turn, at(3_600_000), 3)).toBe(true);
  });

  it("where a refusal of one that came in later was forgotten, and not by one that came in earlier or elsewhere", () => {
    const turn = turnOfOne();
    for (const arrival of [at(200), at(150), at(900, second)]) noteForgotten(turn, { entryPeer: 2, arrival });
    expect([isFrom(turn, at(200)), isFrom(turn, at(201))]).toEqual([true, false]);
  });

  it("and its caller is told who does not remember", () => {
    expect(forgotten(turnOfOne(), "ref")).toMatchObject({
      members: [{ peerId: 1, reason: expect.stringContaining("no longer") }],
    });
  });
});
