/**
 * What the others do when a member announces a new incarnation: they record it before anything else, and from then on
 * its votes and acknowledgements of superseded incarnations no longer count. Receipts count at the incarnation their
 * proposal pins, for ever (protocol.md 4i, S21).
 */
import type { PeerId } from "./Topology.ts";
import { Limits } from "../base/Limits.ts";
import { forgetVotesOf } from "./Lifecycle.ts";
import { numberKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import type { Proposal } from "./Proposal.ts";
import { isAnnounced, type SignedRestoration } from "./Restoration.ts";

/**
 * Records a member's own announcement, in this step's transaction, if it is higher than the one on record. An equal or
 * lower one says nothing, whoever made it.
 */
export const noteRestored = (step: Step, from: PeerId, signed: SignedRestoration | undefined): void => {
  const known = step.state.signed.seen.get(from);
  if (signed === undefined || known === undefined || signed.restoration.peerId !== from) return;
  const { incarnation } = signed.restoration;
  // No clock is this far ahead: only a liar leaves no room for incarnations to come.
  if (incarnation <= known.incarnation || incarnation > step.now + Limits.incarnationAheadMillis) return;
  if (!isAnnounced(step.context.crypto, step.membership, signed)) return;
  const row = { peerId: from, incarnation, newest: undefined, restored: signed };
  step.edit("signed", "seen").set(from, row);
  // Flushed before any answer that rests on it (D5).
  step.write({ op: "replace", table: "seen", key: numberKey(from), row });
  forgetOldAnswers(step, from);
  askAnew(step);
};

/** Answers that a recovering peer got before that incarnation began say nothing of what its members have now. */
const askAnew = (step: Step): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery !== undefined)
    step.draft("rejoining").recovery = { ...recovery, nonce: undefined, answers: new Map(), transfer: undefined };
};

/** Votes counted while it was on record no longer count. */
const forgetOldAnswers = (step: Step, peerId: PeerId): void => {
  forgetVotesOf(step, peerId);
  const { probe } = step.state.probing;
  // It was ready in its old incarnation.
  step.draft("probing").verdict = undefined;
  if (probe === undefined) return;
  const answers = new Map(probe.answers);
  answers.delete(peerId);
  step.draft("probing").probe = { ...probe, answers };
};

/** Whether a proposal pins a superseded incarnation of some member: then nobody signs a receipt for it any more. */
export const isSuperseded = (step: Step, { incarnations }: Proposal): boolean =>
  step.membership.peerIds.some((peerId, index) => (incarnations[index] ?? 0) < step.recordedIncarnation(peerId));
