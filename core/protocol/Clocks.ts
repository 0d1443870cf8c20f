/**
 * Which clock is wrong. Of two clocks that differ, neither is known to be right, so all members' clocks are compared:
 * the one that fewer agree with is named, and both where as many agree with either.
 */
import { Limits } from "../base/Limits.ts";
import type { MemberFault } from "../base/Rejection.ts";
import type { PeerId } from "./Topology.ts";

/** What a member's clock showed, and the two times of this peer's own clock between which it did; Unix milliseconds. */
export interface Sight {
  readonly peerId: PeerId;
  readonly clock: number;
  readonly from: number;
  readonly to: number;
}

const SECONDS = Limits.clockSkewMillis / 1000;
const DIFFERS = `its clock differs by more than ${SECONDS} s`;

const agree = (one: number, other: number): boolean => Math.abs(one - other) <= Limits.clockSkewMillis;

/** How far, at least, it is ahead of this peer's own clock or behind it, in milliseconds; 0 where it may be neither. */
const offsetOf = ({ clock, from, to }: Sight): number => (clock > to ? clock - to : clock < from ? clock - from : 0);

/**
 * Every member whose clock differs too much from this peer's own, or this peer itself; nobody where all clocks agree.
 */
export const clockFaults = (self: PeerId, sights: ReadonlyArray<Sight>): ReadonlyArray<MemberFault> => {
  const offsets = sights.map((sight) => ({ peerId: sight.peerId, offset: offsetOf(sight) }));
  const off = offsets.filter(({ offset }) => !agree(offset, 0));
  if (off.length === 0) return [];
  // Each clock agrees with itself.
  const withSelf = 1 + offsets.length - off.length;
  const standing = off.map(({ peerId, offset }) => ({
    peerId,
    supporters: offsets.filter((each) => agree(each.offset, offset)).length,
  }));
  if (standing.some(({ supporters }) => supporters > withSelf)) return [{ peerId: self, reason: DIFFERS }];
  const even = standing.filter(({ supporters }) => supporters === withSelf).map(({ peerId }) => peerId);
  const rivals = even.join(", ");
  const own =
    even.length === 0
      ? []
      : [{ peerId: self, reason: `its clock and that of peer ${rivals} differ by more than ${SECONDS} s` }];
  return [
    ...own,
    ...standing.map(({ peerId, supporters }) => ({
      peerId,
      reason: supporters < withSelf ? DIFFERS : `its clock and that of peer ${self} differ by more than ${SECONDS} s`,
    })),
  ];
};

/** Whether a request's stamp is so far from now that it is an old copy, or its entry peer's clock was wrong. */
export const isOutOfTime = (receivedAt: number, now: number): boolean =>
  Math.abs(now - receivedAt) > Limits.proposalMillis;

/** The fault of the entry peer of such a request. */
export const stampedWrong = (entryPeer: PeerId): MemberFault => ({
  peerId: entryPeer,
  reason: `its clock was off by more than ${Limits.proposalMillis / 1000} s when the request came in`,
});
