/**
 * After every start a peer asks all others what they have seen of it. Until each
 * has shown that it has seen nothing this peer does not remember, it signs no
 * statement: its disk may have gone back in time (protocol.md 4a, 4i, S22). It
 * still applies certificates, which others have signed, and reads go on.
 *
 * So does a peer that has just pinned its topology: to itself, a disk that went back
 * to before that looks the same.
 */
import type { PeerId } from "./Topology.ts";
import type { Turn } from "./Turn.ts";
import { acknowledgeLate } from "./Delivery.ts";
import type { Ready } from "./Message.ts";
import { noteFirstHeard } from "./LateCopy.ts";
import { ask, nonceFor } from "./Readiness.ts";
import { isOwnRestore, quarantineIfBehind, quarantineIfRestoredSince } from "./Rollback.ts";

const JOIN_AGAIN_MILLIS = 500;
/** When a founder asks: by then the others have mostly pinned the topology too. */
const JOIN_FIRST_MILLIS = 20;

/** Has every other member asked again, from now on. */
export const beginJoining = (turn: Turn): void => {
  if (turn.others.length === 0) return;
  turn.draft("rejoining").unproven = new Set(turn.others);
  turn.arm("join", JOIN_FIRST_MILLIS);
};

/** Takes up what a restart or a seal interrupted. */
export const takeUp = (turn: Turn): void => {
  const {
    undecided: { preparations, refused, aborting, outbox, prunable },
  } = turn.state;
  if (preparations.size + refused.size + aborting.size > 0) turn.arm("resolve", 1);
  if (outbox.size > 0) turn.arm("deliver", 1);
  if (prunable > 0) turn.arm("prune", 1);
};

/** Asks whoever has not answered yet, as soon as this process can answer for itself, and again every time its timer fires. */
export const join = (turn: Turn): void => {
  if (turn.mode !== "joining" && turn.mode !== "announcing") return;
  const { joinNonce = turn.context.entropy, unproven } = turn.state.rejoining;
  turn.draft("rejoining").joinNonce = joinNonce;
  ask(turn, joinNonce, unproven);
  turn.arm("join", JOIN_AGAIN_MILLIS);
};

/**
 * A member's answer. Only one that its sender signed proves anything, and only where that member's own records hold.
 * Only a header that this peer itself signed shows that it has forgotten something: a claim puts nobody out.
 */
export const onJoinAnswer = (turn: Turn, from: PeerId, ready: Ready): void => {
  const {
    rejoining: { joinNonce },
  } = turn.state;
  if (ready.peerId !== from) return;
  if (joinNonce === undefined || ready.nonce !== nonceFor(turn, joinNonce, from)) return;
  if (ready.sealed || !ready.integrityOk || ready.topologyDigest !== turn.membership.digest) return;
  quarantineIfRestoredSince(turn, ready.recorded);
  quarantineIfBehind(turn, ready.seen);
  if (turn.mode === "quarantined" || turn.state.rejoining.recovery?.outbid !== undefined) return;
  if (!isOwnRestore(turn.state, ready.recorded)) return;
  turn.edit("rejoining", "unproven").delete(from);
  noteFirstHeard(turn, from, ready.moment);
  if (turn.state.rejoining.unproven.size > 0) return;
  turn.draft("rejoining").joinNonce = undefined;
  acknowledgeLate(turn);
  takeUp(turn);
};
