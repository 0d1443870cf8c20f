/** Whom a coordinator asks first: itself, then those that answer soonest and have not failed lately. */
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { signings } from "./SigningState.ts";

/** How long one that failed is asked last; then it costs some request a short wait to find out more. */
const AVOIDED_MILLIS = 10_000;
/** How many times as long as on average a member takes that only has much to do. */
const USUALLY = 3;
/** The part of a new measurement in the smoothed one. */
const WEIGHT = 0.25;

/** The other members, in the order in which they are asked. */
export const inOrder = (step: Step): ReadonlyArray<PeerId> => {
  const { members } = step.slice(signings);
  const { self, elapsed } = step;
  const rank = (peerId: PeerId): number => {
    const known = members.get(peerId);
    if (known === undefined) return 0;
    const isAvoided = known.failedAt !== undefined && elapsed - known.failedAt < AVOIDED_MILLIS;
    return isAvoided ? Number.POSITIVE_INFINITY : known.millis;
  };
  // Among equals each coordinator begins with the one after itself, so that not all ask the same.
  const later = ([...step.others] as Array<PeerId>).toSorted(
    (left, right) => Number(left < self) - Number(right < self) || left - right,
  );
  const ranks = new Map(later.map((peerId) => [peerId, rank(peerId)]));
  const of = (peerId: PeerId): number => ranks.get(peerId) ?? 0;
  return later.toSorted((left, right) => (of(left) < of(right) ? -1 : Number(of(left) > of(right))));
};

/** Longer than this these members do not take as a rule: milliseconds, 0 where nothing is known of them. */
export const usualWait = (step: Step, peerIds: ReadonlyArray<PeerId>): number => {
  const { members } = step.slice(signings);
  return USUALLY * Math.max(0, ...peerIds.map((peerId) => members.get(peerId)?.millis ?? 0));
};

/** A member has answered, so many milliseconds after it was asked. */
export const noteServed = (step: Step, peerId: PeerId, millis: number): void => {
  if (peerId === step.self) return;
  const known = step.slice(signings).members.get(peerId);
  const smoothed = known === undefined ? millis : known.millis + WEIGHT * (millis - known.millis);
  step.editIn(signings, "members").set(peerId, { millis: smoothed, failedAt: undefined });
};

/** A member has not done its part, or has done it wrong. */
export const noteFailed = (step: Step, peerId: PeerId): void => {
  if (peerId === step.self) return;
  const millis = step.slice(signings).members.get(peerId)?.millis ?? 0;
  step.editIn(signings, "members").set(peerId, { millis, failedAt: step.elapsed });
};
