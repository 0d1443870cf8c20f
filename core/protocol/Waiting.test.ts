import { describe, expect, it } from "vitest";
import { NOW } from "../../properties/cluster/Cluster.ts";
import { enrolling, options } from "../../properties/cluster/Enrolling.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import { metadataLock, refLock } from "../commands/approvers/Locks.ts";
import { enrollmentIn, enrollments } from "../commands/enrollPasskey/EnrollmentState.ts";
import type { Digest } from "../base/Digest.ts";
import { onAnswersTimer } from "./Entry.ts";
import { isIntent } from "./Command.ts";
import { requestKey } from "./Forward.ts";

/** A registration through peer 3 that is prepared everywhere, while no vote has reached anybody. */
const { cluster } = prepared(3, undefined, 3);
const awaited = stateOf(cluster, 3).requests.awaited.get("request");
const [round] = stateOf(cluster, 1).undecided.rounds.values();
if (awaited?.request.kind !== "REGISTER" || !isIntent(awaited.request) || round?.creator === undefined)
  throw new Error("it is under way");
const { forward, request } = awaited;
const { creator } = round;

/** How long an entry peer waits, of the ten seconds that a caller does, and how long the writer. */
const ENTRY = 9_500;
const WRITER = 9_000;
const LATE = 0;
const EARLY = 1;

const queuedAt = (arrivedAt: number) => ({
  forward: { ...forward, requestId: `at ${arrivedAt}` },
  actor: { iss: undefined, sub: "operator", jti: undefined },
  tokenExpiresAt: NOW + 3_600_000,
  intent: request,
  isFirst: true,
  arrivedAt,
});
/** Lets the timer fire; how many were answered, how they were rejected, and when it fires again. */
const fire = (step: WholeStep) => {
  step.timers.clear();
  onAnswersTimer(step);
  const { state, thenSend } = step.finish(() => undefined);
  const rejections = thenSend.flatMap((action) =>
    action._tag === "Reply" && action.answer._tag === "Rejected" ? [action.answer.rejection] : [],
  );
  return {
    state,
    answers: thenSend.filter(({ _tag }) => _tag !== "SetTimer").length,
    rejections,
    again: state.timers.get("answers"),
  };
};

describe("whoever has waited as long as promised is answered, and nobody before", () => {
  it("at its entry peer", () => {
    const step = openStep(cluster, 3, NOW, ENTRY);
    step.edit("requests", "awaited").set("request", { ...awaited, arrivedAt: LATE });
    expect(fire(step)).toMatchObject({ answers: 1, again: undefined });
    const two = openStep(cluster, 3, NOW, ENTRY);
    two
      .edit("requests", "awaited")
      .set("request", { ...awaited, arrivedAt: LATE })
      .set("next", { ...awaited, arrivedAt: EARLY });
    const { state, answers, again } = fire(two);
    expect([[...state.requests.awaited.keys()], answers, again]).toEqual([["next"], 1, ENTRY + 1]);
  });

  it("in the writer's queue", () => {
    const step = openStep(cluster, 1, NOW, WRITER);
    step.edit("undecided", "rounds").clear();
    step.draft("requests").queue = [queuedAt(LATE), queuedAt(EARLY)];
    const { state, answers, again } = fire(step);
    expect([state.requests.queue.map(({ arrivedAt }) => arrivedAt), answers, again]).toEqual([[EARLY], 1, WRITER + 1]);
  });

  it.each([
    [LATE, EARLY, undefined, [EARLY]],
    [EARLY, LATE, EARLY, []],
  ])("in a round: its creator of %i, who joined it at %i", (created, joined, creatorLeft, coalescedLeft) => {
    const step = openStep(cluster, 1, NOW, WRITER);
    const coalesced = [queuedAt(joined)];
    step
      .edit("undecided", "rounds")
      .set(round.id, { ...round, creator: { ...creator, arrivedAt: created }, coalesced });
    const { state, answers } = fire(step);
    const left = state.undecided.rounds.get(round.id);
    expect(answers).toBe(1);
    expect(left?.creator?.arrivedAt).toBe(creatorLeft);
    expect(left?.coalesced.map(({ arrivedAt }) => arrivedAt)).toEqual(coalescedLeft);
  });

  it("while options are made for it", () => {
    const asked = enrolling(3);
    asked.tamper = (_from, _to, message) => (message._tag === "Session.Mirror" ? undefined : message);
    options(asked, 1, "options");
    asked.settle();
    const step = openStep(asked, 1, NOW, WRITER);
    const [offer] = step.slice(enrollments).offers.values();
    if (offer === undefined) throw new Error("options are under way");
    const offers = step.editIn(enrollments, "offers");
    offers.clear();
    for (const arrivedAt of [LATE, EARLY]) {
      const forward = { ...offer.forward, requestId: `at ${arrivedAt}` };
      offers.set(requestKey(forward), { ...offer, forward, arrivedAt });
    }
    const { state, answers, again } = fire(step);
    expect([[...enrollmentIn(state).offers.values()].map(({ arrivedAt }) => arrivedAt), answers, again]).toEqual([
      [EARLY],
      1,
      WRITER + 1,
    ]);
  });
});

describe("whoever has waited too long at the writer", () => {
  const id = "ab".repeat(32) as Digest;
  const { ref } = request;
  const [preparation] = stateOf(cluster, 1).undecided.preparations.values();
  if (preparation === undefined) throw new Error("it is prepared");

  it.each<readonly [string, boolean, string, ReadonlyArray<string>, string]>([
    ["a registration, of nothing", false, "REGISTER", [], "nothing was reserved"],
    ["one, of an earlier registration", true, "REGISTER", [metadataLock(ref), refLock(ref)], "still undecided"],
    ["one, of a replacement", false, "REGISTER", [metadataLock(ref)], "still undecided"],
    ["a replacement, of a registration", false, "METADATA", [metadataLock(ref), refLock(ref)], "still undecided"],
    ["one, of another approver's", false, "METADATA", [metadataLock("other")], "nothing was reserved"],
  ])("for its turn is told what that depends on: %s, open %s", (_what, isOpen, kind, locks, words) => {
    const step = openStep(cluster, 1, NOW, WRITER);
    step.edit("undecided", "rounds").clear();
    // Being aborted, so that nothing but the lock itself shows that something is open.
    step.edit("undecided", "aborting").set(id, { ...preparation, id, votes: [], acks: new Map() });
    step.draft("undecided").locks = new Map(locks.map((lock) => [lock, id]));
    const { forward: asked, ...queued } = queuedAt(LATE);
    const target = kind === "METADATA" ? { ...request, kind, baseRevision: 1 } : request;
    step.draft("requests").queue = [{ ...queued, intent: target, forward: { ...asked, entryPeer: 1 } }];
    expect(fire(step).rejections).toMatchObject([{ detail: expect.stringContaining(words), outcomeUnknown: isOpen }]);
  });

  it("in a round is told that the outcome is open, and who has not confirmed", () => {
    const step = openStep(cluster, 1, NOW, WRITER);
    const target = { kind: "METADATA", ref, baseRevision: 1 };
    step
      .edit("undecided", "rounds")
      .set(round.id, { ...round, creator: { ...creator, entryPeer: 1, target, arrivedAt: LATE } });
    expect(fire(step).rejections).toMatchObject([
      { outcomeUnknown: true, members: [2, 3].map((peerId) => ({ peerId })) },
    ]);
  });
});
