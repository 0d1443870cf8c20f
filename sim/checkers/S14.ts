/**
 * S14: a caller told of a success is told the truth: every member has it, durably. Where a caller is told for certain
 * that nothing was done, its peer knows of nothing done.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { Either, Encoding } from "effect";
import { RecentMap } from "../../runtime/RecentMap.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf, type PeerMask, slotsOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Successes remembered at least, to see that no two callers are told of the same one. */
const REMEMBERED = 4_096;

/** Members that do not have a revision yet, nor a later one. */
const behind = ({ members, subjects }: Ghost, ref: string, revision: number): PeerMask => {
  const facts = subjects.get(ref);
  let missing = 0;
  for (const slot of slotsOf(members)) if ((facts?.revisionAt[slot] ?? 0) < revision) missing |= maskOf(slot);
  return missing;
};

/** Throws {@link Violation} where options are told of a session that not every member keeps. */
const assertKept = (ghost: Ghost, slot: number, requestId: string, registrationId: string, exempt: PeerMask): void => {
  const key = bytesToHex(Either.getOrThrow(Encoding.decodeBase64Url(registrationId)));
  const missing = ghost.members & ~(ghost.sessions.get(key) ?? 0) & ~exempt & ~ghost.away;
  if (missing !== 0)
    throw new Violation(
      "S14",
      `peer ${slot} answered request ${requestId} with options of session ${key}`,
      `not every member keeps it (missing at ${slotsOf(missing).join(", ")})`,
    );
};

export const S14 = (ghost: Ghost): Checker => {
  let exempt = 0;
  /** By what requests are told that they alone made: the request. */
  let makers = new RecentMap<string>(REMEMBERED);
  const assertOnlyOne = (requestId: string, made: string): void => {
    const other = makers.get(made);
    if (other !== undefined && other !== requestId)
      throw new Violation("S14", `request ${other} was told that it made ${made}`, `so was request ${requestId}`);
    makers.set(made, requestId);
  };
  /** A request at the peer that it entered through: a liar names its own by the numbers of others. */
  const requestAt = (slot: number, requestId: string): string => `${slot} ${requestId}`;
  /** How far requests have come, each at the peer that it entered through. */
  const led = new RecentMap<"signed for" | "applied" | "ended">(REMEMBERED);
  /** By preparation: the request that it is for. */
  const open = new Map<string, { readonly slot: number; readonly requestId: string }>();
  /** Requests denied for certain, each with the process of its peer that said so. */
  const denied = new RecentMap<number>(REMEMBERED);
  const assertNotDenied = (peer: Watched, requestId: string): void => {
    if (denied.get(requestAt(peer.slot, requestId)) === peer.process)
      throw new Violation(
        "S14",
        `peer ${peer.slot} told request ${requestId} for certain that nothing was done`,
        "it signed for it afterwards, in the same process",
      );
  };
  const assertUndone = (slot: number, requestId: string): void => {
    const state = led.get(requestAt(slot, requestId));
    if (state === "signed for" || state === "applied")
      throw new Violation(
        "S14",
        `peer ${slot} told request ${requestId} for certain that nothing was done`,
        `it has ${state} the change that this very request has led to`,
      );
  };
  return {
    id: "S14",
    written: {
      // A change that was on no member's disk may be made again.
      restore: ({ slot }) => {
        if (ghost.unitedBy === slot) makers = new RecentMap<string>(REMEMBERED);
      },
      preparations: (peer, write) => {
        const { slot } = peer;
        if (write.op !== "remove") {
          const { entryPeer, requestId, writer } = write.row.proposal;
          if (entryPeer !== slot) return;
          // A writer denies its own callers' requests only when it proposes nothing, and needs no memory of that.
          if (write.op === "insert" && slot !== writer && !ghost.isLying(slot)) assertNotDenied(peer, requestId);
          open.set(write.key, { slot, requestId });
          return led.set(requestAt(slot, requestId), "signed for");
        }
        const ended = open.get(write.key);
        if (ended?.slot !== slot) return;
        open.delete(write.key);
        const request = requestAt(slot, ended.requestId);
        if (led.get(request) === "signed for") led.set(request, "ended");
      },
      certificates: ({ slot }, write) => {
        if (write.op === "remove") return;
        const { entryPeer, requestId } = write.row.proposal;
        if (entryPeer === slot) led.set(requestAt(slot, requestId), "applied");
      },
    },
    stepped: ({ slot, honest }) => {
      exempt = honest ? exempt & ~maskOf(slot) : exempt | maskOf(slot);
    },
    replied: (peer, { requestId, answer }) => {
      const { slot } = peer;
      if (ghost.isLying(slot)) return;
      if (answer._tag === "Rejected" && !answer.rejection.outcomeUnknown) {
        assertUndone(slot, requestId);
        denied.set(requestAt(slot, requestId), peer.process);
      }
      if (answer._tag === "Offered") assertKept(ghost, slot, requestId, answer.offer.registrationId, exempt);
      const found = ghost.product.shownIn(answer);
      if (found === undefined) return;
      const { subject } = found;
      const { ref, row, promised, own } = found.shown;
      const revision = subject.revisionOf(row);
      // A registration promises the approver; the revision that it shows may be on its way to others.
      const missing = behind(ghost, ref, promised) & ~exempt & ~ghost.away;
      if (missing !== 0)
        throw new Violation(
          "S14",
          `peer ${slot} answered request ${requestId} with success for revision ${revision} of ${ref}`,
          `it is not durable at every member (missing at ${slotsOf(missing).join(", ")})`,
        );
      const stored = ghost.subjects.get(ref)?.revisions.get(revision);
      const differs = stored && subject.differs(stored, row);
      if (differs !== undefined)
        throw new Violation(
          "S14",
          `peer ${slot} answered request ${requestId} with revision ${revision} of ${ref}`,
          `the members have another ${differs} under that revision`,
        );
      if (own !== undefined) assertOnlyOne(requestId, `${own} of ${ref}`);
    },
  };
};
