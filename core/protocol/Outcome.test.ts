import { describe, expect, it } from "vitest";
import { altered, approverIn, asFinish, asReplacement } from "../../properties/cluster/AlteredEffects.ts";
import { actor, type Cluster, codeOf, crypto, founded, rowsOf, whole } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { forbidden } from "../../properties/cluster/Refused.ts";
import { register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Answer } from "../Action.ts";
import type { Digest } from "../base/Digest.ts";
import type { Request } from "./Requests.ts";
import { type RejectionCode, rejection } from "../base/Rejection.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { Outcome } from "./Message.ts";
import { onOutcome } from "./Outcome.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import type { PeerId } from "./Topology.ts";

const OTHER = "ab".repeat(32) as Digest;
const response = { registrationId: "cd".repeat(32) as Digest, responseDigest: "ef".repeat(32) as Digest };

/** Alice is registered through peer 3, and prepared everywhere: no vote has reached anybody. */
const { cluster, preparation } = prepared(3, undefined, 3);
const awaited = stateOf(cluster, 3).requests.awaited.get("request");
if (awaited === undefined) throw new Error("it is under way");
const { proposal, own } = preparation;

/** The answers and messages of a step in the end. */
const outOf = (step: WholeStep): ReadonlyArray<Answer | Message> =>
  step
    .finish(() => undefined)
    .thenSend.flatMap((action): Array<Answer | Message> => {
      if (action._tag === "Send") return [action.message];
      return action._tag === "Reply" ? [action.answer] : [];
    });

/** The statement of every member that this was done. */
const confirmed = (change: Partial<Proposal>): Extract<Outcome, { readonly _tag: "Confirmed" }> => {
  const done = { ...proposal, ...change };
  const about = { proposalId: proposalId(crypto, done) };
  const receipts = [1, 2, 3].map((peerId) => forgedBy(cluster, peerId, own, about));
  const acks = [1, 2, 3].map((peerId) => forgedBy(cluster, peerId, own, { ...about, kind: "COMMIT_ACK" }));
  return { _tag: "Confirmed", certificate: { proposal: done, receipts }, acks };
};
const said = { _tag: "Existing", ref: approverIn(proposal).ref } as const;
const asking = (change: object): Request => ({ ...awaited.request, ...change }) as unknown as Request;
const optionsAsked: Request = { kind: "OPTIONS", ref: said.ref };
const hear = (request: Request, outcome: Outcome, from: PeerId = 1): WholeStep => {
  const step = openStep(cluster, 3);
  step.edit("requests", "awaited").set("request", { ...awaited, request });
  onOutcome(step, from, { _tag: "Outcome", requestId: "request", outcome });
  return step;
};

describe("an entry peer believes", () => {
  const finishing = asking({ kind: "FINISH", response });
  const replacing = asking({ kind: "METADATA", baseRevision: 1 });
  const replaced = asReplacement(proposal, 1);
  const finished = asFinish(proposal, response);

  it.each<readonly [string, boolean, Request, Outcome]>([
    ["that the approver it asked for is registered", true, awaited.request, confirmed({})],
    ["no registration of another", false, awaited.request, confirmed(altered(proposal, { ref: OTHER }))],
    ["no replacement where it asked for a registration", false, awaited.request, confirmed(replaced)],
    ["that its own replacement is made", true, replacing, confirmed(replaced)],
    ["no replacement that another request made", false, replacing, confirmed({ ...replaced, requestId: "twin" })],
    ["no replacement that entered elsewhere", false, replacing, confirmed({ ...replaced, entryPeer: 2 })],
    ["that its session is finished by its response", true, finishing, confirmed(finished)],
    ["no finish of another approver", false, finishing, confirmed(altered(finished, { ref: OTHER }))],
    [
      "no finish by another response",
      false,
      finishing,
      confirmed(asFinish(proposal, { ...response, responseDigest: OTHER })),
    ],
    ["no registration where it asked for a finish", false, finishing, confirmed({ ...finished, kind: "REGISTER" })],
    ["nothing to be done where it asked for options", false, optionsAsked, confirmed({})],
    ["no finish to be there that it does not know of", false, finishing, said],
    ["no approver to be there where it asked for options", false, optionsAsked, said],
  ])("%s", (_what, isBelieved, request, outcome) => {
    expect(hear(request, outcome).state.requests.awaited.has("request")).toBe(!isBelieved);
  });

  it("the writer, and nobody else", () => {
    expect(hear(awaited.request, confirmed({}), 2).state.requests.awaited.has("request")).toBe(true);
  });

  it.each([
    ["that its request has created what names it", {}, true],
    ["of a request through another peer that it created what this one joined", { entryPeer: 2 }, false],
    ["of another request that it created what this one joined", { requestId: "twin" }, false],
  ])("%s", (_what, change, created) => {
    expect(outOf(hear(awaited.request, confirmed(change)))).toMatchObject([{ _tag: "Registered", created }]);
  });

  it.each([
    ["the approver it asked for", said.ref],
    ["another one", "mallory@sha256:00"],
  ])("that %s is there, which it does not have itself, so far that the outcome is open", (_which, ref) => {
    expect(outOf(hear(awaited.request, { ...said, ref }))).toMatchObject([
      { _tag: "Rejected", rejection: { ref: said.ref, outcomeUnknown: true } },
    ]);
  });
});

const no = (code: RejectionCode = "ACCESS_DENIED"): Outcome => ({
  _tag: "Rejected",
  rejection: rejection(code, "Nothing was done.", "Believe it."),
});

/** The writer says this to peer 3 about a request, whatever its driver decides. */
const say = (to: Cluster, requestId: string, outcome: Outcome): void => {
  const message: Message = { _tag: "Outcome", requestId, outcome };
  to.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
};

/** Alice's registration through peer 3, which alone has applied it: neither writer nor peer 2 gets a certificate. */
const halfDone = (): Cluster => {
  const half = founded();
  half.tamper = (_from, to, message) =>
    message._tag === "Outcome" || (message._tag === "Commit" && to === 2) ? undefined : message;
  half.register(3, "request", "alice", 7);
  half.settle();
  expect(rowsOf(half, "approvers")).toEqual([1, 0, 1]);
  return half;
};

describe("a writer that says an approver was there, which a member does not have", () => {
  it("does not make an entry peer say so before that member has it", () => {
    const half = halfDone();
    const [ref = ""] = half.tables.get(3)?.get("approvers")?.keys() ?? [];
    say(half, "request", { _tag: "Existing", ref });
    half.settle();
    expect(half.answers.has("request")).toBe(false);
    // The entry peer delivers the certificate that it has applied, and asks again.
    half.tamper = (_from, _to, message) => (message._tag === "Outcome" ? undefined : message);
    half.pass(2_500);
    expect(rowsOf(half, "approvers")).toEqual([1, 1, 1]);
    expect(codeOf(half, "request")).toBe("Registered");
  });

  it("makes it say, when time is up, who has not confirmed it", () => {
    const half = halfDone();
    const [ref = ""] = half.tables.get(3)?.get("approvers")?.keys() ?? [];
    say(half, "request", { _tag: "Existing", ref });
    half.pass(9_499);
    expect(half.answers.has("request")).toBe(false);
    half.pass(1);
    expect(half.answers.get("request")).toMatchObject({
      _tag: "Rejected",
      rejection: { outcomeUnknown: true, ref, members: [{ peerId: 2 }] },
    });
  });
});

describe("a writer that says no for certain", () => {
  it("is contradicted by an entry peer that has applied the change of this very request", () => {
    const half = halfDone();
    say(half, "request", no());
    expect(half.answers.get("request")).toMatchObject({
      _tag: "Rejected",
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", outcomeUnknown: true },
    });
  });

  it.each([
    ["says that the outcome is open when it applies that", true],
    ["passes it on when that has been aborted", false],
  ])("is held back by an entry peer that has signed for it, which %s", (_what, isApplied) => {
    const open = founded();
    open.judge = (peerId) => (!isApplied && peerId === 2 ? forbidden : actor);
    let isHeldUp = true;
    open.tamper = (_from, _to, message) =>
      message._tag === "Outcome" || (isHeldUp && message._tag === "Votes") ? undefined : message;
    open.register(3, "request", "alice", 7);
    open.settle();
    expect(stateOf(open, 3).undecided.preparations.size).toBe(1);
    say(open, "request", no());
    expect(open.answers.has("request")).toBe(false);
    isHeldUp = false;
    open.pass(9_000);
    expect(rowsOf(open, "approvers")).toEqual(Array(3).fill(isApplied ? 1 : 0));
    expect(open.answers.get("request")).toMatchObject({ _tag: "Rejected", rejection: { outcomeUnknown: isApplied } });
  });

  it("is passed on by an entry peer that knows nothing to the contrary", () => {
    const open = founded();
    open.tamper = (_from, _to, message) => (message._tag === "Prepare" ? undefined : message);
    open.register(3, "request", "alice", 7);
    open.settle();
    say(open, "request", no());
    expect(open.answers.get("request")).toMatchObject({ rejection: { code: "ACCESS_DENIED", outcomeUnknown: false } });
  });
});

describe("two like replacements through one peer", () => {
  it("are not both told of the one that was made", () => {
    const both = founded();
    register(both, "alice", 7);
    const [ref = ""] = both.tables.get(3)?.get("approvers")?.keys() ?? [];
    let told: MessageOf<"Outcome"> | undefined;
    both.tamper = (from, to, message) => {
      if (message._tag !== "Outcome") return whole(from, to, message);
      if (message.outcome._tag === "Confirmed") told = message;
      return { ...message, outcome: told?.outcome ?? message.outcome };
    };
    both.replace(3, "first", ref, '"1"', { team: "b" });
    both.replace(3, "twin", ref, '"1"', { team: "b" });
    both.pass(1_000);
    expect(codeOf(both, "first")).toBe("Replaced");
    expect(both.answers.has("twin")).toBe(false);
  });
});

describe("a writer that answers with an older certificate of what was changed since", () => {
  it("does not make an entry peer show what it was", () => {
    const changed = founded();
    let old: MessageOf<"Outcome"> | undefined;
    changed.tamper = (from, to, message) => {
      if (message._tag !== "Outcome") return whole(from, to, message);
      old ??= message;
      return { ...message, outcome: old.outcome };
    };
    register(changed, "alice", 7, 3);
    expect(old?.outcome._tag).toBe("Confirmed");
    const [ref = ""] = changed.tables.get(3)?.get("approvers")?.keys() ?? [];
    changed.replace(1, "replace", ref, '"1"', { team: "b" });
    changed.pass(1_000);
    changed.register(3, "again", "alice", 7);
    changed.pass(1_000);
    expect(changed.answers.get("again")).toMatchObject({
      _tag: "Registered",
      created: false,
      approver: { revision: 2 },
    });
  });
});

describe("a writer that was started again with a change that not every member has acknowledged", () => {
  it("says to a caller of its own that the approver is there when they have, and not before", () => {
    const restarted = founded();
    const keepBack: Cluster["tamper"] = (_from, to, message) =>
      to === 2 && message._tag === "Commit" ? undefined : message;
    restarted.tamper = keepBack;
    restarted.register(1, "request", "alice", 7);
    restarted.settle();
    restarted.peers.get(1)?.stop();
    restarted.start(1);
    restarted.pass(1_000);
    restarted.register(1, "retry", "alice", 7);
    restarted.pass(2_000);
    expect(rowsOf(restarted, "approvers")).toEqual([1, 0, 1]);
    expect(restarted.answers.has("retry")).toBe(false);
    restarted.tamper = whole;
    restarted.pass(2_500);
    expect(restarted.answers.get("retry")).toMatchObject({ _tag: "Registered", created: false });
    expect(rowsOf(restarted, "approvers")).toEqual([1, 1, 1]);
  });
});

describe("an entry peer that has told its caller for certain that nothing was done", () => {
  it("refuses to sign for that request afterwards, and for no other", () => {
    const late = founded();
    let prepares: ReadonlyArray<Message> = [];
    const votes: Array<string> = [];
    late.tamper = (from, to, message) => {
      if (from === 3 && message._tag === "Votes")
        votes.push(...message.statements.map(({ statement }) => `${statement.kind} ${statement.detail}`));
      if (message._tag !== "Prepare" || to !== 3) return message._tag === "Outcome" ? undefined : message;
      prepares = [...prepares, message];
      return undefined;
    };
    late.register(3, "request", "alice", 7);
    late.settle();
    say(late, "request", no());
    expect(codeOf(late, "request")).toBe("ACCESS_DENIED");
    late.tamper = (from, _to, message) => {
      if (from === 3 && message._tag === "Votes")
        votes.push(...message.statements.map(({ statement }) => `${statement.kind} ${statement.detail}`));
      return message;
    };
    for (const message of prepares) late.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [actor] });
    late.pass(6_000);
    expect(votes[0]).toBe("REFUSAL DENIED");
    expect(rowsOf(late, "approvers")).toEqual([0, 0, 0]);
    late.register(3, "again", "alice", 7);
    late.pass(2_000);
    expect(late.answers.get("again")).toMatchObject({ _tag: "Registered", created: true });
  });
});
