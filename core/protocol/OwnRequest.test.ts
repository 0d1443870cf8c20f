import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep, wholeStep } from "../../properties/cluster/OpenStep.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { rejection } from "../base/Rejection.ts";
import { hasDenied, hasSignedFor, noteAborted, noteApplied, denyOwn } from "./OwnRequest.ts";
import type { Proposal } from "./Proposal.ts";

/** A replacement and a registration wait at the second of three members; the proposal comes from the first of them. */
const waiting = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const [alice] = cluster.tables.get(2)?.get("approvers")?.keys() ?? [];
  if (alice === undefined) throw new Error("alice is registered");
  cluster.tamper = (_from, _to, message) => (message._tag === "Votes" ? undefined : message);
  cluster.replace(2, "change", alice, '"1"', { team: "b" });
  cluster.settle();
  const [preparation] = stateOf(cluster, 2).undecided.preparations.values();
  const awaited = stateOf(cluster, 2).requests.awaited.get("change");
  if (preparation === undefined || awaited === undefined) throw new Error("nothing was proposed");
  cluster.register(2, "other", "bob", 8);
  return { cluster, proposal: preparation.proposal, awaited };
};
const { cluster, proposal, awaited } = waiting();
const denial = rejection("PRECONDITION_FAILED", "It is not the current revision.", "Read it.");

const others: ReadonlyArray<readonly [string, Partial<Proposal>]> = [
  ["that entered elsewhere", { entryPeer: 3 }],
  ["of another request", { requestId: "elsewhere" }],
];

describe("a request", () => {
  it("is one that this peer has signed for while its own proposal is prepared here", () => {
    expect(hasSignedFor(openStep(cluster, 2), awaited.forward)).toBe(true);
    expect(hasSignedFor(openStep(cluster, 2), { ...awaited.forward, requestId: "other" })).toBe(false);
    expect(hasSignedFor(openStep(cluster, 2), { ...awaited.forward, entryPeer: 3 })).toBe(false);
  });
});

describe("a certain no", () => {
  const LIMIT = CAPACITIES.denialsRemembered;
  const turnedAway = (count: number, elapsed = 0, state = openStep(cluster, 2).state) => {
    const step = wholeStep(state, openStep(cluster, 2, undefined, elapsed).context);
    for (let at = 0; at < count; at++)
      denyOwn(step, { ...awaited, forward: { ...awaited.forward, requestId: `no ${elapsed + at}` } }, denial);
    return step;
  };
  const knows = (step: ReturnType<typeof openStep>, requestId: string, entryPeer = 2): boolean =>
    hasDenied(step, { ...awaited.forward, requestId, entryPeer });

  it("is remembered of the request that it was told, here, and of no other", () => {
    const step = turnedAway(1);
    expect([knows(step, "no 0"), knows(step, "no 0", 3), knows(step, "other")]).toEqual([true, false, false]);
  });

  it("is not remembered where the outcome is open", () => {
    const step = openStep(cluster, 2);
    denyOwn(step, awaited, { ...denial, outcomeUnknown: true });
    expect(knows(step, "change")).toBe(false);
  });

  it("is forgotten when so many newer ones were told, and nothing can come of the request any more", () => {
    const step = turnedAway(1, 120_000, turnedAway(LIMIT).state);
    expect([knows(step, "no 0"), knows(step, "no 1"), knows(step, "no 120000")]).toEqual([false, true, true]);
  });

  it("is none before that: the outcome is left open instead", () => {
    const full = turnedAway(LIMIT).state;
    const step = turnedAway(1, 119_999, full);
    expect([knows(step, "no 0"), knows(step, "no 119999")]).toEqual([true, false]);
    expect(step.finish(() => undefined).thenSend).toMatchObject([
      { requestId: "no 119999", answer: { rejection: { outcomeUnknown: true } } },
    ]);
  });
});

describe("what was applied", () => {
  /** The requests that this peer then knows to be done. */
  const done = (change: Partial<Proposal>): ReadonlyArray<string> => {
    const step = openStep(cluster, 2);
    noteApplied(step, { ...proposal, ...change });
    return [...step.state.requests.awaited].flatMap(([requestId, each]) => (each.isApplied ? [requestId] : []));
  };

  it("is remembered with the request that it came from, and with no other that waits", () => {
    expect(stateOf(cluster, 2).requests.awaited.size).toBe(2);
    expect(done({})).toEqual(["change"]);
    expect(done({ requestId: "other" })).toEqual(["other"]);
  });

  it.each(others)("is remembered with none %s", (_which, change) => {
    expect(done(change)).toEqual([]);
  });
});

describe("a certain no that waits", () => {
  const told = (ended: (step: ReturnType<typeof openStep>) => void) => {
    const step = openStep(cluster, 2);
    step.edit("requests", "awaited").set("change", { ...awaited, denial });
    ended(step);
    const { state, thenSend } = step.finish(() => undefined);
    return { waits: state.requests.awaited.has("change"), answers: thenSend.filter(({ _tag }) => _tag === "Reply") };
  };

  it("is told when the proposal has been aborted", () => {
    expect(told((step) => noteAborted(step, proposal))).toEqual({
      waits: false,
      answers: [{ _tag: "Reply", requestId: "change", answer: { _tag: "Rejected", rejection: denial } }],
    });
  });

  it("is an open outcome when the proposal has been applied", () => {
    expect(told((step) => noteApplied(step, proposal))).toMatchObject({
      waits: false,
      answers: [{ requestId: "change", answer: { rejection: { outcomeUnknown: true } } }],
    });
  });

  it.each(others)("waits on when something else ends %s", (_which, change) => {
    expect(told((step) => noteAborted(step, { ...proposal, ...change }))).toEqual({ waits: true, answers: [] });
  });

  it("is none where the writer has not said it", () => {
    const step = openStep(cluster, 2);
    noteAborted(step, proposal);
    expect(step.state.requests.awaited.get("change")).toMatchObject({ denial: undefined });
  });
});
