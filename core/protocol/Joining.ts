/**
 * After every start a peer asks all others what they have seen of it. Until each
 * has shown that it has seen nothing this peer does not remember, the peer signs
 * no statement: its disk may have gone back in time (protocol.md 4a, 4i, S22).
 * It still applies certificates, which others have signed, and reads go on.
 *
 * So does a peer that has just pinned its topology: it cannot tell itself from one whose disk went back to before that.
 */
import type { PeerId } from "./Topology.ts";
import type { Step } from "./Step.ts";
import { acknowledgeLate } from "./Delivery.ts";
import type { Ready } from "./Message.ts";
import { noteFirstHeard } from "./DuplicateSuppression.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import { ask } from "./Readiness.ts";
import { isOwnRestore, quarantineIfBehind, quarantineIfRestoredSince } from "./Rollback.ts";

const JOIN_AGAIN_MILLIS = 500;
/** When a founder asks: by then most of the others have pinned the topology too. */
const JOIN_FIRST_MILLIS = 20;

/** Starts asking every other member again. */
export const beginJoining = (step: Step): void => {
  if (step.others.length === 0) return;
  step.draft("rejoining").unproven = new Set(step.others);
  step.arm("join", JOIN_FIRST_MILLIS);
};

/** Resumes what a restart or a seal interrupted. */
export const takeUp = (step: Step): void => {
  const {
    undecided: { preparations, refused, aborting, outbox, prunable },
  } = step.state;
  if (preparations.size + refused.size + aborting.size > 0) step.arm("resolve", 1);
  if (outbox.size > 0) step.arm("deliver", 1);
  if (prunable > 0) step.arm("prune", 1);
};

/** Asks members that have not answered yet, as soon as this process can answer for itself, and at every timer. */
export const join = (step: Step): void => {
  if (step.mode !== "joining" && step.mode !== "announcing" && step.mode !== "promoting") return;
  if (step.state.rejoining.unproven.size === 0) return;
  const { joinNonce = freshNonce(step, "join"), unproven } = step.state.rejoining;
  step.draft("rejoining").joinNonce = joinNonce;
  ask(step, joinNonce, unproven);
  step.arm("join", JOIN_AGAIN_MILLIS);
};

/**
 * A member's answer. It proves something only if its sender signed it, and only where that member's own records hold.
 * Only a header signed by this peer itself shows that it has forgotten something: a mere claim quarantines nobody.
 */
export const onJoinAnswer = (step: Step, from: PeerId, ready: Ready): void => {
  const {
    rejoining: { joinNonce },
  } = step.state;
  if (ready.peerId !== from) return;
  if (joinNonce === undefined || ready.nonce !== nonceFor(step, joinNonce, from)) return;
  if (ready.sealed || !ready.integrityOk || ready.topologyDigest !== step.membership.digest) return;
  quarantineIfRestoredSince(step, ready.recorded);
  quarantineIfBehind(step, ready.seen);
  if (step.mode === "quarantined" || step.state.rejoining.recovery?.superseded !== undefined) return;
  if (!isOwnRestore(step.state, ready.recorded)) return;
  step.edit("rejoining", "unproven").delete(from);
  noteFirstHeard(step, from, ready.moment);
  if (step.state.rejoining.unproven.size > 0) return;
  step.draft("rejoining").joinNonce = undefined;
  acknowledgeLate(step);
  takeUp(step);
};
