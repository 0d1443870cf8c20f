/**
 * What the others do when a member announces a new incarnation: they record it before
 * anything else, and from then on its old votes and acknowledgements count no
 * more. Receipts count at the incarnation their proposal pins, for ever
 * (protocol.md 4i, S21).
 */
import type { PeerId } from "./Topology.ts";
import { Limits } from "../base/Limits.ts";
import { forgetVotesOf } from "./Lifecycle.ts";
import { numberKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import type { Proposal } from "./Proposal.ts";
import { isAnnounced, type SignedRestoration } from "./Restoration.ts";

/**
 * Records a member's own announcement, in this step's transaction, if it is higher than what is on record. One that
 * is equal to that or lower says nothing, whoever made it.
 */
export const noteRestored = (step: Step, from: PeerId, signed: SignedRestoration | undefined): void => {
  const known = step.state.signed.seen.get(from);
  if (signed === undefined || known === undefined || signed.restoration.peerId !== from) return;
  const { incarnation } = signed.restoration;
  // What is this far ahead no clock has shown: only a liar leaves no room for incarnations to come.
  if (incarnation <= known.incarnation || incarnation > step.now + Limits.incarnationAheadMillis) return;
  if (!isAnnounced(step.context.crypto, step.membership, signed)) return;
  const row = { peerId: from, incarnation, newest: undefined, restored: signed };
  step.edit("signed", "seen").set(from, row);
  // Flushed before anything is answered that rests on it (D5).
  step.write({ op: "replace", table: "seen", key: numberKey(from), row });
  forgetOldAnswers(step, from);
  askAnew(step);
};

/** What others told a recovering peer before that incarnation began says nothing of what they have now. */
const askAnew = (step: Step): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery !== undefined)
    step.draft("rejoining").recovery = { ...recovery, nonce: undefined, answers: new Map(), transfer: undefined };
};

/** What was counted while it was on record counts no more. */
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

/** Whether a proposal pins an incarnation of some member that is over: then nobody signs a receipt for it any more. */
export const isSuperseded = (step: Step, { incarnations }: Proposal): boolean =>
  step.membership.peerIds.some((peerId, index) => (incarnations[index] ?? 0) < step.recordedIncarnation(peerId));
