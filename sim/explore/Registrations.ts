/** A small world of conflicting registrations: one key under as many ids as there are callers, through different peers. */
import { effectsIn } from "../models/Effects.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { Violation } from "../base/Violation.ts";
import type { World } from "../world/World.ts";
import { assertRemembered, type Claims, undecidedIn } from "./Claims.ts";
import type { Configuration } from "./Configuration.ts";
import type { Member } from "./Member.ts";
import { calling, type Plot } from "./Moves.ts";
import { keepsNothing } from "./Spoken.ts";

const TOKEN_MILLIS = 3_600_000;
const FIRST_KEY = 1;

/** S6 and S4: a slot is applied for one proposal only, and no proposal is applied here and aborted there. */
export const assertOneOutcome = (member: Member, others: ReadonlyArray<Member>): void => {
  for (const [key, mine] of member.rows.entries("slots"))
    for (const other of others) {
      const theirs = other.rows.get("slots", key);
      if (theirs === undefined || other === member) continue;
      const decided = `${mine.outcome} ${theirs.outcome}`;
      if (mine.proposalId !== theirs.proposalId && decided === "APPLIED APPLIED")
        throw new Violation(
          "S6",
          `peer ${member.peerId} applied proposal ${mine.proposalId} in slot ${key}`,
          `peer ${other.peerId} applied ${theirs.proposalId} there`,
        );
      if (mine.proposalId === theirs.proposalId && (decided === "APPLIED ABORTED" || decided === "ABORTED APPLIED"))
        throw new Violation(
          "S4",
          `proposal ${mine.proposalId} is ${mine.outcome} at peer ${member.peerId}`,
          `it is ${theirs.outcome} at peer ${other.peerId}`,
        );
    }
};

/** Whether a member has durably voted to abort a proposal. */
const hasVoted = ({ rows }: Member, id: Digest, slot: string): boolean => {
  const bound = rows.get("slots", slot);
  return (
    rows.get("refusals", id) !== undefined ||
    rows.get("preparations", id)?.pledge !== undefined ||
    rows.get("strays", id) !== undefined ||
    (bound?.proposalId === id && bound.outcome === "ABORTED")
  );
};

/** S5: an aborted proposal has a durable vote of every member. */
const assertAllVoted = (member: Member, others: ReadonlyArray<Member>): void => {
  for (const [slot, { proposalId, outcome }] of member.rows.entries("slots"))
    if (outcome === "ABORTED")
      for (const other of others)
        if (!hasVoted(other, proposalId, slot))
          throw new Violation(
            "S5",
            `peer ${member.peerId} aborted proposal ${proposalId}`,
            `peer ${other.peerId} never voted for its end`,
          );
};

/** S1: no member has a receipt and a refusal of one proposal. */
export const assertOneVote = ({ peerId, rows }: Member): void => {
  for (const [id] of rows.entries("refusals"))
    if (rows.get("preparations", id) !== undefined)
      throw new Violation("S1", `peer ${peerId} signed a RECEIPT of proposal ${id}`, "it signed a REFUSAL of it too");
};

/** S7: a key has one owner, over everything stored or reserved anywhere. */
export const assertOneOwner = (members: ReadonlyArray<Member>): void => {
  const owners = new Map<string, readonly [id: string, peer: number]>();
  const claim = (key: string, id: string, peer: number): void => {
    const [owner, at] = owners.get(key) ?? [id, peer];
    if (owner !== id)
      throw new Violation("S7", `peer ${at} holds key ${key} for id ${owner}`, `peer ${peer} holds it for id ${id}`);
    owners.set(key, [id, peer]);
  };
  for (const { peerId, rows } of members) {
    for (const [, { keyIdentity, id }] of rows.entries("approvers")) claim(keyIdentity, id, peerId);
    for (const [, { proposal }] of rows.entries("preparations"))
      claim(effectsIn(proposal).keyIdentity, effectsIn(proposal).id, peerId);
  }
};

/** S14: a caller that was told of success finds its approver on every member. */
const assertPromises = ({ calls, members }: Configuration): void => {
  for (const call of calls) {
    if (typeof call === "string" || call._tag !== "Registered") continue;
    for (const { peerId, rows } of members)
      if (rows.get("approvers", call.approver.ref) === undefined)
        throw new Violation(
          "S14",
          `a caller was answered with approver ${call.approver.ref}`,
          `peer ${peerId} does not have it on its disk`,
        );
  }
};

const claims: Claims = {
  assertSafe: (after, before) => {
    const { members } = after;
    assertRemembered(after, before);
    members.forEach((member, index) => {
      if (member.rows === before.members[index]?.rows) return;
      assertOneVote(member);
      assertOneOutcome(member, members);
      assertAllVoted(member, members);
      assertOneOwner(members);
    });
    if (after.calls !== before.calls) assertPromises(after);
  },
  unfinished: "L1",
  remainderOf: undecidedIn,
};

export const registrations = (
  { commands, realMillis, peers }: World,
  { requests }: { readonly requests: number },
): { readonly plot: Plot; readonly claims: Claims } => ({
  plot: {
    requests: Array.from({ length: requests }, (_, index) => {
      const { id, call } = commands.command(`approver-${index}`, FIRST_KEY, "team");
      const token = commands.token("good", realMillis, TOKEN_MILLIS).text;
      const event = calling(commands, call, token);
      return { through: 1 + (index % peers.length), name: id, event, isRepeated: false };
    }),
    lies: () => [],
    keeping: () => keepsNothing,
    isAside: () => false,
    crashless: undefined,
    isTimed: false,
  },
  claims,
});
