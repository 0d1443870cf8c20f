/**
 * A member may act in an incarnation that is over, and not know that it is: its disk has gone back, and its announcement
 * came in here when all had shown it what they knew. Nothing of it counts here then, and it learns why from a probe,
 * which shows it what is on record (protocol.md 4i).
 */
import { freshNonce } from "./Nonces.ts";
import { ask } from "./Readiness.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import type { Step } from "./Step.ts";
import type { PeerId } from "./Topology.ts";

/** Why a member refuses what takes any of them for what they were. */
export const WRONG_INCARNATION = "WRONG_INCARNATION";

/** Whoever has a member reminded, and however often: it is asked once in this time. */
const AGAIN_MILLIS = 1_000;

/** Whether a member has signed it in an incarnation before the one on record. */
export const isOfEarlierIncarnation = (step: Step, signed: SignedStatement): boolean =>
  signed.header.incarnation < step.recordedIncarnation(signerOf(signed)) &&
  isAuthentic(step.context.crypto, step.membership, signed);

/** Shows members what is on record of them here. */
export const remind = (step: Step, members: ReadonlyArray<PeerId>): void => {
  const { remindedAt } = step.state.probing;
  const isDue = (peerId: PeerId): boolean => {
    const last = remindedAt.get(peerId);
    const isOnRecord = step.state.signed.seen.get(peerId)?.restored !== undefined;
    return isOnRecord && (last === undefined || step.elapsed - last >= AGAIN_MILLIS);
  };
  const due = [...new Set(members)].filter(isDue);
  if (due.length === 0) return;
  step.draft("probing").remindedAt = new Map([
    ...remindedAt,
    ...due.map((peerId): [PeerId, number] => [peerId, step.elapsed]),
  ]);
  ask(step, freshNonce(step, "reminder"), due);
};

/**
 * The same of members that a writer takes for what they were before.
 *
 * @param incarnations of all members, in their order
 */
export const remindOfRecord = (step: Step, incarnations: ReadonlyArray<number>): void => {
  const { peerIds } = step.membership;
  if (incarnations.length !== peerIds.length) return;
  remind(
    step,
    peerIds.filter((peerId, index) => (incarnations[index] ?? 0) < step.recordedIncarnation(peerId)),
  );
};
