import { describe, expect, it } from "vitest";
import { NOW } from "../../properties/cluster/Cluster.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import type { Turn } from "../Turn.ts";
import { onAnswersTimer } from "./Entry.ts";

/** A registration through peer 3 that is prepared everywhere, while no vote has reached anybody. */
const { cluster } = prepared(3, undefined, 3);
const awaited = stateOf(cluster, 3).awaited.get("request");
const [round] = stateOf(cluster, 1).rounds.values();
if (awaited?.request.kind !== "REGISTER" || round?.creator === undefined) throw new Error("it is under way");
const { forward, request } = awaited;
const { creator } = round;

/** How long an entry peer waits of the ten seconds a caller does, and how long the writer. */
const ENTRY = 9_500;
const WRITER = 9_000;
const LATE = 0;
const EARLY = 1;

const queuedAt = (arrivedAt: number) => ({
  forward: { ...forward, requestId: `at ${arrivedAt}` },
  actor: { iss: undefined, sub: "operator", jti: undefined },
  tokenExpiresAt: NOW + 3_600_000,
  mutation: request,
  arrivedAt,
});
/** Lets the timer fire; how many were answered, and when it fires again. */
const fire = (turn: Turn) => {
  turn.edit("timers").clear();
  onAnswersTimer(turn);
  const { state, thenSend } = turn.finish(() => undefined);
  return {
    state,
    answers: thenSend.filter(({ _tag }) => _tag !== "SetTimer").length,
    again: state.timers.get("answers"),
  };
};

describe("whoever has waited as long as promised is answered, and nobody before", () => {
  it("at its entry peer", () => {
    const turn = turnOf(cluster, 3, NOW, ENTRY);
    turn.edit("awaited").set("request", { ...awaited, arrivedAt: LATE });
    expect(fire(turn)).toMatchObject({ answers: 1, again: undefined });
    const two = turnOf(cluster, 3, NOW, ENTRY);
    two
      .edit("awaited")
      .set("request", { ...awaited, arrivedAt: LATE })
      .set("next", { ...awaited, arrivedAt: EARLY });
    const { state, answers, again } = fire(two);
    expect([[...state.awaited.keys()], answers, again]).toEqual([["next"], 1, ENTRY + 1]);
  });

  it("in the writer's queue", () => {
    const turn = turnOf(cluster, 1, NOW, WRITER);
    turn.edit("rounds").clear();
    turn.state.queue = [queuedAt(LATE), queuedAt(EARLY)];
    const { state, answers, again } = fire(turn);
    expect([state.queue.map(({ arrivedAt }) => arrivedAt), answers, again]).toEqual([[EARLY], 1, WRITER + 1]);
  });

  it.each([
    [LATE, EARLY, undefined, [EARLY]],
    [EARLY, LATE, EARLY, []],
  ])("in a round: its creator of %i, who joined it at %i", (created, joined, creatorLeft, joinersLeft) => {
    const turn = turnOf(cluster, 1, NOW, WRITER);
    const joiners = [queuedAt(joined)];
    turn.edit("rounds").set(round.id, { ...round, creator: { ...creator, arrivedAt: created }, joiners });
    const { state, answers } = fire(turn);
    const left = state.rounds.get(round.id);
    expect(answers).toBe(1);
    expect(left?.creator?.arrivedAt).toBe(creatorLeft);
    expect(left?.joiners.map(({ arrivedAt }) => arrivedAt)).toEqual(joinersLeft);
  });
});
