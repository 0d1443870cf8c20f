import { describe, expect, it } from "vitest";
import { Cluster, NOW } from "../../properties/cluster/Cluster.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import { Limits } from "../Limits.ts";
import { forgotten, isFromBefore, noteFirstClock, noteForgotten } from "./LateCopy.ts";

/** A turn of peer 1, which knows that peer 2 first answered at {@link NOW}, and has not heard of any peer 3. */
const turnOfOne = () => {
  const cluster = new Cluster(2);
  cluster.pass(2_000);
  const turn = turnOf(cluster, 1);
  turn.edit("forgottenUntil").clear();
  noteFirstClock(turn, 2, NOW);
  return turn;
};

describe("a forwarded request may be a late copy", () => {
  it("where it came in no later than its entry peer first answered this process", () => {
    const turn = turnOfOne();
    expect(isFromBefore(turn, { entryPeer: 2, receivedAt: NOW })).toBe(true);
    expect(isFromBefore(turn, { entryPeer: 2, receivedAt: NOW + 1 })).toBe(false);
  });

  it("by the first clock that its entry peer showed, not by a later one", () => {
    const turn = turnOfOne();
    noteFirstClock(turn, 2, NOW + 5_000);
    expect(isFromBefore(turn, { entryPeer: 2, receivedAt: NOW + 1 })).toBe(false);
  });

  it("by a clock that was at most so far ahead as a proposal lasts", () => {
    const turn = turnOfOne();
    noteFirstClock(turn, 3, NOW + 3_600_000);
    expect(isFromBefore(turn, { entryPeer: 3, receivedAt: NOW + Limits.proposalMillis })).toBe(true);
    expect(isFromBefore(turn, { entryPeer: 3, receivedAt: NOW + Limits.proposalMillis + 1 })).toBe(false);
  });

  it("whenever it came in, from a peer that this process has not heard of", () => {
    const turn = turnOfOne();
    noteForgotten(turn, { entryPeer: 3, receivedAt: NOW });
    expect(isFromBefore(turn, { entryPeer: 3, receivedAt: NOW + 3_600_000 })).toBe(true);
  });

  it("where a refusal of one that came in later was forgotten, and not by one that came in earlier", () => {
    const turn = turnOfOne();
    noteForgotten(turn, { entryPeer: 2, receivedAt: NOW + 100 });
    noteForgotten(turn, { entryPeer: 2, receivedAt: NOW + 50 });
    expect(isFromBefore(turn, { entryPeer: 2, receivedAt: NOW + 100 })).toBe(true);
    expect(isFromBefore(turn, { entryPeer: 2, receivedAt: NOW + 101 })).toBe(false);
  });

  it("and its caller is told who does not remember", () => {
    expect(forgotten(turnOfOne(), "ref")).toMatchObject({
      members: [{ peerId: 1, reason: expect.stringContaining("no longer") }],
    });
  });
});
