/** Whom a coordinator asks first: itself, then those that answer soonest and have not failed lately. */
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { type Experience, signings } from "./SigningState.ts";

/** How long one that failed is asked last; then it costs some request a short wait to find out more. */
const AVOIDED_MILLIS = 10_000;
/** How many times as long as on average a member takes that only has much to do. */
const USUALLY = 3;
/** The part of a new measurement in the smoothed one. */
const WEIGHT = 0.25;

const isRecent = ({ elapsed }: Step, at: number | undefined): boolean =>
  at !== undefined && elapsed - at < AVOIDED_MILLIS;

/** Whether a signature has just failed by it that it had committed to. */
export const isDoubted = (step: Step, peerId: PeerId): boolean =>
  isRecent(step, step.slice(signings).members.get(peerId)?.withheldAt);

/** The other members, in the order in which they are asked. */
export const inOrder = (step: Step): ReadonlyArray<PeerId> => {
  const { members } = step.slice(signings);
  const { self } = step;
  const rank = (peerId: PeerId): number => {
    const known = members.get(peerId);
    if (known === undefined) return 0;
    const isAvoided = isRecent(step, known.failedAt) || isRecent(step, known.withheldAt);
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

const unknown: Experience = { millis: 0, failedAt: undefined, withheldAt: undefined };

const note = (step: Step, peerId: PeerId, change: Partial<Experience>): void => {
  if (peerId === step.self) return;
  const known = step.slice(signings).members.get(peerId) ?? unknown;
  step.editIn(signings, "members").set(peerId, { ...known, ...change });
};

/** A member has committed, so many milliseconds after it was asked. Whether it will sign that does not tell. */
export const noteCommitted = (step: Step, peerId: PeerId, millis: number): void => {
  const known = step.slice(signings).members.get(peerId);
  const smoothed = known === undefined ? millis : known.millis + WEIGHT * (millis - known.millis);
  note(step, peerId, { millis: smoothed, failedAt: undefined });
};

/**
 * A member has signed. What it was asked before it withheld something proves nothing: one that lies may serve all callers
 * but one.
 *
 * @param askedAt monotonic milliseconds
 */
export const noteServed = (step: Step, peerId: PeerId, askedAt: number): void => {
  const { withheldAt } = step.slice(signings).members.get(peerId) ?? unknown;
  if (withheldAt !== undefined && askedAt > withheldAt) note(step, peerId, { withheldAt: undefined });
};

/** A member has not committed. */
export const noteFailed = (step: Step, peerId: PeerId): void => note(step, peerId, { failedAt: step.elapsed });

/** A member has committed and not signed, or signed wrong. */
export const noteWithheld = (step: Step, peerId: PeerId): void => note(step, peerId, { withheldAt: step.elapsed });
