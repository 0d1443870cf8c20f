/**
 * What holds of a promotion in a small world, by the disks of its members: S20, S26 and S27 by what a move has added to
 * them, and at rest that the promotion is done (L6) and every caller was answered.
 */
import { modeOf } from "../../core/protocol/Mode.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import { nameOf } from "../checkers/S27.ts";
import type { World } from "../world/World.ts";
import { assertRemembered, type Claims, undecidedIn } from "./Claims.ts";
import type { Configuration } from "./Configuration.ts";
import type { Member } from "./Member.ts";
import { assertOneOutcome, assertOneOwner, assertOneVote } from "./Registrations.ts";

type Pinned = Rows["promotion"];

const isRecovering = ({ rows }: Member): boolean => rows.get("restore", SELF)?.recovering === true;

/** Whether a member belongs to the epoch of a draft, and has the whole registry of it. */
const hasInstalled = (member: Member, { epoch }: Pinned["draft"]): boolean =>
  member.rows.get("topology", SELF)?.topology.epoch === epoch && !isRecovering(member);

/** S20: what a member signs for or applies, it does while its epoch is the one that decides. */
const assertInTurn = (member: Member, before: Member, source: Member): void => {
  const pinned = source.rows.get("promotion", SELF);
  for (const [table, what] of [
    ["preparations", "signed a RECEIPT of"],
    ["certificates", "applied"],
  ] as const)
    for (const [id, { proposal }] of member.rows.entries(table)) {
      if (before.rows.get(table, id) !== undefined) continue;
      const { seq, topologyDigest } = proposal;
      const { draft, stage } = pinned ?? {};
      const isOld = draft === undefined || topologyDigest === draft.oldDigest;
      if (member.peerId !== source.peerId && isOld && (!isRecovering(before) || seq >= (draft?.firstSlot ?? 0)))
        throw new Violation(
          "S20",
          `peer ${member.peerId} is a target of peer ${source.peerId}`,
          `it ${what} proposal ${id} of slot ${seq} in the epoch before`,
        );
      if (member.peerId === source.peerId && isOld && pinned !== undefined)
        throw new Violation("S20", `peer ${source.peerId} is ${stage}`, `it ${what} proposal ${id} in the old epoch`);
      if (!isOld && stage !== "DONE")
        throw new Violation(
          "S20",
          `peer ${source.peerId} is ${stage}`,
          `peer ${member.peerId} ${what} proposal ${id} in the new epoch`,
        );
      if (table === "preparations" && isRecovering(member))
        throw new Violation("S26", `peer ${member.peerId} is recovering`, `it ${what} proposal ${id}`);
    }
};

/** S27: a row that is there for ever is there, and its draft is the same. */
const assertKept = <T extends "promotion" | "transfer">(table: T, member: Member, before: Member): void => {
  const [now, then] = [member.rows.get(table, SELF), before.rows.get(table, SELF)];
  if (then !== undefined && (now === undefined || nameOf(now.draft) !== nameOf(then.draft)))
    throw new Violation("S27", `peer ${member.peerId} had a draft in ${table}`, "it has another one or none there now");
};

/** S27: each step of a source, and of a target, rests on the durable one of the others before it. */
const assertInOrder = (members: ReadonlyArray<Member>, source: Member): void => {
  const pinned = source.rows.get("promotion", SELF);
  for (const member of members) {
    if (member === source) continue;
    const accepted = member.rows.get("transfer", SELF);
    if (accepted !== undefined && (pinned === undefined || nameOf(pinned.draft) !== nameOf(accepted.draft)))
      throw new Violation(
        "S27",
        `peer ${member.peerId} accepted a draft`,
        `peer ${source.peerId} has not durably pinned that`,
      );
    if (pinned !== undefined && pinned.stage !== "PINNED" && accepted === undefined)
      throw new Violation(
        "S27",
        `peer ${source.peerId} is ${pinned.stage}`,
        `peer ${member.peerId} has not durably accepted its draft`,
      );
    if (pinned?.stage === "DONE" && !hasInstalled(member, pinned.draft))
      throw new Violation(
        "S27",
        `peer ${source.peerId} is done`,
        `peer ${member.peerId} does not durably have the registry of its draft`,
      );
  }
};

/** S26, S27: a target that has just taken the registry has the one that its draft promises. */
const assertInstalled = ({ cryptography, product }: World, member: Member, before: Member): void => {
  const accepted = member.rows.get("transfer", SELF);
  if (accepted === undefined || !hasInstalled(member, accepted.draft) || hasInstalled(before, accepted.draft)) return;
  const { crypto } = cryptography;
  const { set, count } = product.contentsOf(crypto, member.rows);
  const { root, approvers } = accepted.draft;
  if (crypto.setDigest(set) !== root || count !== approvers)
    throw new Violation(
      "S26",
      `the draft that peer ${member.peerId} accepted has ${approvers} approvers and the root ${root}`,
      `it took ${count} approvers with the root ${crypto.setDigest(set)}`,
    );
};

/** S14: what a caller was told is stored, is so at every member of the newest epoch. */
const assertPromises = ({ calls, members }: Configuration, source: Member): void => {
  const isDone = source.rows.get("promotion", SELF)?.stage === "DONE";
  for (const call of calls) {
    if (typeof call === "string" || call._tag !== "Registered") continue;
    for (const { peerId, rows } of isDone ? members : [source])
      if (rows.get("approvers", call.approver.ref) === undefined)
        throw new Violation(
          "S14",
          `a caller was answered with approver ${call.approver.ref}`,
          `peer ${peerId} does not have it on its disk`,
        );
  }
};

export const promotionClaims = (world: World, sourceId: PeerId): Claims => {
  const sourceIn = ({ members }: Configuration): Member => {
    const source = members.find(({ peerId }) => peerId === sourceId);
    if (source === undefined) throw new RangeError(`there is no peer ${sourceId}`);
    return source;
  };
  return {
    unfinished: "L6",
    assertSafe: (after, before) => {
      const { members } = after;
      const source = sourceIn(after);
      assertRemembered(after, before);
      members.forEach((member, index) => {
        const known = before.members[index];
        if (known === undefined || member.rows === known.rows) return;
        assertOneVote(member);
        assertOneOutcome(member, members);
        assertOneOwner(members);
        assertInTurn(member, known, source);
        assertKept("promotion", member, known);
        assertKept("transfer", member, known);
        assertInOrder(members, source);
        assertInstalled(world, member, known);
        assertPromises(after, source);
      });
      if (after.calls !== before.calls) assertPromises(after, source);
    },
    remainderOf: (at) => {
      for (const { peerId, memory } of at.members) {
        if (memory === undefined) return `peer ${peerId} is down`;
        const mode = modeOf(memory.state);
        if (mode !== "active") return `peer ${peerId} is ${mode}`;
      }
      const stage = sourceIn(at).rows.get("promotion", SELF)?.stage ?? "not pinned";
      if (stage !== "DONE") return `the promotion is ${stage}`;
      const waiting = at.calls.findIndex((call) => call === "sent");
      return waiting < 0 ? undecidedIn(at) : `caller ${waiting} has no answer`;
    },
  };
};
