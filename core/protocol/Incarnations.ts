/**
 * What the others do when a member announces a new life: they record it before
 * anything else, and from then on its old votes and acknowledgements count no
 * more. Receipts count at the incarnation their proposal pins, for ever
 * (protocol.md 4i, S21).
 */
import type { PeerId } from "./Topology.ts";
import { Limits } from "../base/Limits.ts";
import { forgetVotesOf } from "./Lifecycle.ts";
import { numberKey } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import type { Proposal } from "./Proposal.ts";
import { isAnnounced, type SignedRestoration } from "./Restoration.ts";

/**
 * Records a member's own announcement, in this turn's transaction, if it is higher than what is on record. One that
 * is equal to that or lower says nothing, whoever made it.
 */
export const noteRestored = (turn: Turn, from: PeerId, signed: SignedRestoration | undefined): void => {
  const known = turn.state.signed.seen.get(from);
  if (signed === undefined || known === undefined || signed.restoration.peerId !== from) return;
  const { incarnation } = signed.restoration;
  // What is this far ahead no clock has shown: only a liar leaves no room for lives to come.
  if (incarnation <= known.incarnation || incarnation > turn.now + Limits.incarnationAheadMillis) return;
  if (!isAnnounced(turn.context.crypto, turn.membership, signed)) return;
  const row = { peerId: from, incarnation, newest: undefined, restored: signed };
  turn.edit("signed", "seen").set(from, row);
  // Flushed before anything is answered that rests on it (D5).
  turn.write({ op: "replace", table: "seen", key: numberKey(from), row });
  forgetOldAnswers(turn, from);
  askAnew(turn);
};

/** What others told a recovering peer before that life began says nothing of what they have now. */
const askAnew = (turn: Turn): void => {
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery !== undefined)
    turn.draft("rejoining").recovery = { ...recovery, nonce: undefined, answers: new Map(), transfer: undefined };
};

/** What was counted while it was on record counts no more. */
const forgetOldAnswers = (turn: Turn, peerId: PeerId): void => {
  forgetVotesOf(turn, peerId);
  const { probe } = turn.state.probing;
  // It was ready in its old life.
  turn.draft("probing").verdict = undefined;
  if (probe === undefined) return;
  const answers = new Map(probe.answers);
  answers.delete(peerId);
  turn.draft("probing").probe = { ...probe, answers };
};

/** Whether a proposal pins a life of some member that is over: then nobody signs a receipt for it any more. */
export const isSuperseded = (turn: Turn, { incarnations }: Proposal): boolean =>
  turn.membership.peerIds.some((peerId, index) => (incarnations[index] ?? 0) < turn.recordedIncarnation(peerId));
