import { describe, expect, it } from "vitest";
import { Cluster, NOW } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { enrollPasskey } from "../commands/enrollPasskey/EnrollPasskey.ts";
import { registerKey } from "../commands/registerKey/RegisterKey.ts";
import { replaceMetadata } from "../commands/replaceMetadata/ReplaceMetadata.ts";
import type { Command } from "./Command.ts";
import type { Proposal } from "./Proposal.ts";
import { finalCode, refusalRejection } from "./Refusals.ts";

/** A step of peer 1 of two, and the proposal that peer 2 made at that very moment. */
const proposed = () => {
  const cluster = new Cluster(2);
  cluster.pass(2_000);
  const proposals: Array<Proposal> = [];
  cluster.tamper = (_from, _to, message) => {
    if (message._tag === "Prepare") for (const { proposal } of message.items) proposals.push(proposal);
    return message;
  };
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  const [proposal] = proposals;
  if (proposal === undefined) throw new Error("a proposal was made");
  return { proposal, stepAt: (now: number) => openStep(cluster, 1, now) };
};

describe("who knows nothing of a proposal refuses it for good", () => {
  const { proposal, stepAt } = proposed();

  it("when its own writer asks, whatever the time is", () => {
    expect(finalCode(stepAt(NOW), proposal, proposal.writer)).toBe("ABANDONED");
  });

  it("when a member has begun another incarnation since", () => {
    const older = { ...proposal, incarnations: proposal.incarnations.map(() => 0) };
    expect(finalCode(stepAt(NOW), older, false)).toBe("WRONG_INCARNATION");
  });

  it("from the millisecond after its deadline, and not in the last one", () => {
    expect(finalCode(stepAt(proposal.expiresAt), proposal, false)).toBeUndefined();
    expect(finalCode(stepAt(proposal.expiresAt), proposal, 2)).toBeUndefined();
    expect(finalCode(stepAt(proposal.expiresAt + 1), proposal, false)).toBe("EXPIRED");
  });
});

describe("what a caller is told of a member's refusal", () => {
  it.each<readonly [string, Pick<Command, "speaking">]>([
    ["UNAUTHENTICATED", registerKey],
    ["ACCESS_DENIED", replaceMetadata],
    ["PRECONDITION_FAILED", replaceMetadata],
    ["CREDENTIAL_ALREADY_REGISTERED", enrollPasskey],
  ])("is the member's own code where it speaks to callers: %s", (check, { speaking }) => {
    expect(refusalRejection(2, check, "ref", speaking)).toMatchObject({
      code: check,
      members: [{ peerId: 2, reason: check }],
      ref: "ref",
    });
  });

  it.each([
    ["the protocol's own", "WRONG_INCARNATION"],
    ["another command's", "PRECONDITION_FAILED"],
  ])("names member and check where the check is %s", (_whose, check) => {
    expect(refusalRejection(3, check, undefined, registerKey.speaking)).toMatchObject({
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      members: [{ peerId: 3, reason: check }],
    });
  });

  it.each(["call mallory at once", "constructor", ""])("is no word of the member's own, such as %j", (check) => {
    const told = refusalRejection(3, check, undefined, registerKey.speaking);
    expect(told).toMatchObject({
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      detail: "Peer 3 refused the change for a reason that is unknown here.",
      members: [{ peerId: 3, reason: "it refuses" }],
    });
  });

  it("is a sentence of this peer's own where the check is known", () => {
    const own = { SESSION_LOST: "it has lost the session" };
    expect(refusalRejection(3, "CLOCK_SKEW", undefined, []).detail).toContain("its clock differs by more than 5 s");
    expect(refusalRejection(3, "SESSION_LOST", undefined, [], own).detail).toContain("it has lost the session");
    expect(refusalRejection(3, "SESSION_LOST", undefined, []).members).toEqual([{ peerId: 3, reason: "it refuses" }]);
  });
});
