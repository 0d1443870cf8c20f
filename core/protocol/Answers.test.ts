import { describe, expect, it } from "vitest";
import { approverIn, asFinish, asReplacement } from "../../properties/cluster/AlteredEffects.ts";
import { NOW } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep, type WholeStep, wholeStep } from "../../properties/cluster/OpenStep.ts";
import { sessionLock } from "../commands/approvers/Locks.ts";
import { commands } from "../commands/Commands.ts";
import type { FinishTarget } from "../commands/enrollPasskey/Finish.ts";
import type { Digest } from "../base/Digest.ts";
import type { Caller } from "./Requests.ts";
import type { Round } from "./Undecided.ts";
import type { Rejection } from "../base/Rejection.ts";
import type { RowView } from "../Tables.ts";
import { answerConfirmed, answerRejected, callerOf, leftOpen, type Repeats } from "./Answers.ts";
import type { Target } from "./Command.ts";
import type { Proposal } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";
import { busy } from "./Unavailable.ts";

const OTHER = "ab".repeat(32) as Digest;
const registrationId = "cd".repeat(32) as Digest;
const response = { registrationId, responseDigest: "ef".repeat(32) as Digest };

/** Bob is registered everywhere, alice is prepared everywhere, and peer 1 is the writer. */
const { cluster, preparation } = prepared(3, (founded) => register(founded, "bob", 8));
const { id, proposal, own } = preparation;
const { ref } = approverIn(proposal);
const [bob] = [...(cluster.tables.get(1)?.get("approvers")?.keys() ?? [])];
const open = stateOf(cluster, 1).undecided.rounds.get(id);
if (bob === undefined || open === undefined) throw new Error("bob is registered, and alice is under way");

const processOf = (peerId: PeerId): Digest => stateOf(cluster, peerId).fitness.process ?? id;

/** A caller through a peer, long after the writer has begun. */
const callerAt = (entryPeer: PeerId, asked: Partial<Caller> = {}): Caller => ({
  entryPeer,
  requestId: "asked",
  arrival: { process: processOf(entryPeer), at: NOW + 3_600_000 },
  target: undefined,
  arrivedAt: 0,
  ...asked,
});
/** The target of registering this approver, replacing that revision of it, or sending the response. */
const registering = (of: string) => ({ target: { kind: "REGISTER", ref: of } });
const changing = (of: string, baseRevision: number) => ({
  target: { kind: "METADATA", ref: of, baseRevision } satisfies Target & { readonly baseRevision: number },
});
const finishing = { target: { kind: "FINISH", ref: undefined, response } satisfies FinishTarget };
const OPTIONS = { target: { kind: "OPTIONS", ref: undefined } };
const BEFORE = { arrival: { process: id, at: 3_600_000 } };
const refusal = busy("No.", undefined);

/** The final answer to a caller whom a step refuses. */
const toldBy = (step: WholeStep, caller: Caller, said: Rejection = refusal): Rejection => {
  answerRejected(step, caller, said);
  const { sendNow, thenSend } = step.finish(() => undefined);
  expect(sendNow).toEqual([]);
  const [told] = thenSend.flatMap((action) => {
    if (action._tag === "Reply" && action.answer._tag === "Rejected") return [action.answer.rejection];
    if (action._tag !== "Send" || action.message._tag !== "Outcome" || action.to !== caller.entryPeer) return [];
    return action.message.outcome._tag === "Rejected" ? [action.message.outcome.rejection] : [];
  });
  if (told === undefined) throw new Error("nobody was told");
  return told;
};

/** Puts a proposal in the place of the prepared one. */
const holding = (step: WholeStep, other: Proposal): void =>
  void step.edit("undecided", "preparations").set(id, { ...preparation, proposal: other });
const reserving = (responseDigest: Digest) => (step: WholeStep) => {
  step.edit("undecided", "locks").set(sessionLock(registrationId), id);
  holding(step, asFinish(proposal, { registrationId, responseDigest }));
};
const replacing = (entryPeer: PeerId) => (step: WholeStep) =>
  holding(step, { ...asReplacement(proposal, 1), entryPeer });
const asIs = (): void => undefined;
const damaged = (step: WholeStep): void => void (step.draft("fitness").integrityFault = "peer/self");
const joining = (step: WholeStep): void => void step.edit("rejoining", "unproven").add(2);
const aborting = (step: WholeStep): void => {
  const told = { votes: [], acks: new Map(), preparedAt: 0, askedAt: 0 };
  step.edit("undecided", "aborting").set(id, { id, proposal, writerReceipt: own, ...told });
};

describe("whoever is refused is told that the outcome is open, or that nothing was done", () => {
  it.each<readonly [string, boolean, Caller, (step: WholeStep) => void]>([
    ["a registration that is prepared", true, callerAt(1, registering(ref)), asIs],
    ["a forwarded one that is prepared", true, callerAt(3, registering(ref)), asIs],
    ["a registration that is being aborted", false, callerAt(3, registering(ref)), aborting],
    ["a registration that somebody else's has done before", false, callerAt(1, registering(bob)), asIs],
    ["a forwarded one, which may be a copy of what was done", true, callerAt(3, registering(bob)), asIs],
    ["a registration that nobody knows", false, callerAt(3, registering(OTHER)), asIs],
    ["a request that asks for no approver", false, callerAt(3), asIs],
    ["a request that asks for no approver, where rows do not hold", false, callerAt(3), damaged],
    ["a request for options, where rows do not hold", false, callerAt(3, OPTIONS), damaged],
    ["a forwarded registration, where rows do not hold", true, callerAt(3, registering(OTHER)), damaged],
    ["the writer's own registration, where rows do not hold", false, callerAt(1, registering(OTHER)), damaged],
    [
      "a forwarded one of before, while the writer is joining",
      true,
      callerAt(3, { ...registering(OTHER), ...BEFORE }),
      joining,
    ],
    ["a forwarded one of before, once it has joined", false, callerAt(3, { ...registering(OTHER), ...BEFORE }), asIs],
    ["a forwarded one of now, while the writer is joining", false, callerAt(3, registering(OTHER)), joining],
    ["a replacement that is prepared", true, callerAt(3, changing(ref, 1)), replacing(3)],
    ["a replacement that another peer's has overtaken", false, callerAt(3, changing(ref, 1)), replacing(2)],
    ["a replacement of another revision", false, callerAt(3, changing(ref, 2)), replacing(3)],
    ["the writer's own replacement", false, callerAt(1, changing(ref, 1)), replacing(1)],
    ["a replacement while nothing is under way", false, callerAt(3, changing(bob, 1)), asIs],
    ["a finish that is reserved", true, callerAt(1, finishing), reserving(response.responseDigest)],
    ["a forwarded finish that is reserved", true, callerAt(3, finishing), reserving(response.responseDigest)],
    ["a finish where another response is reserved", false, callerAt(3, finishing), reserving(OTHER)],
    ["a finish of a session that nobody has finished", false, callerAt(3, finishing), asIs],
    ["a forwarded finish, where rows do not hold", true, callerAt(3, finishing), damaged],
  ])("%s: %s", (_what, isOpen, caller, become) => {
    const step = openStep(cluster, 1);
    become(step);
    expect(toldBy(step, caller).outcomeUnknown).toBe(isOpen);
  });

  it.each<readonly [string, boolean, PeerId, Digest]>([
    ["a forwarded finish that was applied", true, 3, response.responseDigest],
    ["the writer's own, as whoever did it was answered", false, 1, response.responseDigest],
    ["a forwarded one, where another response was applied", false, 3, OTHER],
  ])("%s: %s", (_what, isOpen, entryPeer, responseDigest) => {
    const { state, context } = openStep(cluster, 1);
    const certified = { proposal: asFinish(proposal, { registrationId, responseDigest }) };
    const rows: Partial<Record<string, object>> = { completions: { proposalId: id }, certificates: certified };
    const get = (table: string) => rows[table];
    const step = wholeStep(state, { ...context, view: { get, scan: () => [] } as unknown as RowView });
    expect(toldBy(step, callerAt(entryPeer, finishing)).outcomeUnknown).toBe(isOpen);
  });
});

describe("an answer that leaves the outcome open", () => {
  const unknown = busy("Perhaps.", undefined, true);

  it("names the approver that a finish is reserved for, which the finish does not", () => {
    const step = openStep(cluster, 1);
    reserving(response.responseDigest)(step);
    expect(toldBy(step, callerAt(3, finishing))).toMatchObject({ ref, outcomeUnknown: true });
  });

  it("names the approver that was asked for, whatever is reserved", () => {
    expect(
      toldBy(openStep(cluster, 1), callerAt(3, { target: { ...finishing.target, ref: OTHER } }), unknown).ref,
    ).toBe(OTHER);
    expect(toldBy(openStep(cluster, 1), callerAt(3), unknown).ref).toBeUndefined();
  });

  it("sends whoever replaces to the approver's revision, and whoever registers to repeat the request", () => {
    expect(leftOpen(commands, unknown, changing(ref, 1).target).hint).toContain("revision");
    expect(leftOpen(commands, unknown, registering(ref).target).hint).toBe(unknown.hint);
  });

  it("is given to nobody who asked for options: a session that nobody was told of is none", () => {
    expect(leftOpen(commands, refusal, OPTIONS.target)).toBe(refusal);
  });
});

describe("a refusal is remembered", () => {
  it.each<readonly [string, PeerId, Repeats, number]>([
    ["of a forwarded request whose copy might succeed", 3, "only if remembered", 1],
    ["of none whose copy is refused by itself", 3, "by itself", 0],
    ["of none that entered here, and has no copies", 1, "only if remembered", 0],
  ])("%s", (_what, entryPeer, repeats, count) => {
    const step = openStep(cluster, 1);
    answerRejected(step, callerAt(entryPeer), refusal, repeats);
    expect(step.state.requests.turnedAway.size).toBe(count);
  });

  it("of the last 1,024 requests, and of a request once; of what is forgotten the time is kept", () => {
    const step = openStep(cluster, 1);
    const begun = stateOf(cluster, 1).requests.forgottenUntil.get(3)?.at ?? 0;
    const at = (count: number) => ({ process: processOf(3), at: begun + count });
    const refuse = (count: number): void =>
      answerRejected(step, callerAt(3, { requestId: `request ${count}`, arrival: at(count) }), refusal);
    const remembers = (count: number): boolean =>
      step.state.requests.turnedAway.get(3)?.has(`request ${count}`) === true;
    for (let count = 1; count <= 1_024; count += 1) refuse(count);
    refuse(1_024);
    expect([step.state.requests.turnedAway.get(3)?.size, remembers(1)]).toEqual([1_024, true]);
    refuse(1_025);
    expect([step.state.requests.turnedAway.get(3)?.size, remembers(1), remembers(2)]).toEqual([1_024, false, true]);
    expect(step.state.requests.forgottenUntil.get(3)).toEqual(at(1));
  });
});

describe("a success", () => {
  const certificate = { proposal, receipts: [own] };
  const flushed = (by: PeerId): SignedStatement => forgedBy(cluster, by, own, {}, { batchNo: 0 });
  const unflushed = (by: PeerId): SignedStatement => forgedBy(cluster, by, own, {}, { batchNo: 1_000 });
  const confirm = (
    entryPeer: PeerId,
    acks: ReadonlyArray<SignedStatement>,
    round: Partial<Round> = { certificate },
  ) => {
    const step = openStep(cluster, 1);
    answerConfirmed(step, { ...open, creator: callerAt(entryPeer), ...round }, acks);
    const { sendNow, thenSend } = step.finish(() => undefined);
    return [sendNow.length, thenSend.length];
  };

  it.each<readonly [string, PeerId, ReadonlyArray<SignedStatement>, ReadonlyArray<number>]>([
    ["at once where the writer's acknowledgement lies on its disk", 1, [flushed(1), unflushed(2)], [1, 0]],
    ["after the flush where it was signed just now", 1, [unflushed(1), flushed(2)], [0, 1]],
    ["at once to another entry peer", 3, [flushed(1), unflushed(2)], [1, 0]],
    ["after the flush to another entry peer", 3, [unflushed(1), flushed(2)], [0, 1]],
  ])("is told %s", (_when, entryPeer, acks, counts) => {
    expect(confirm(entryPeer, acks)).toEqual(counts);
  });

  it("is told to nobody while there is no certificate", () => {
    expect(confirm(1, [flushed(1)], { certificate: undefined })).toEqual([0, 0]);
  });
});

it("knows of a request that nobody understands no more than where and when it came in", () => {
  const { evidence } = open;
  if (evidence === undefined) throw new Error("it is not prepared everywhere yet");
  const { entryPeer, requestId, arrival } = evidence;
  expect(callerOf(evidence, 7, undefined)).toEqual(callerAt(entryPeer, { requestId, arrival, arrivedAt: 7 }));
});
