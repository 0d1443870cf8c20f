/** What everybody knows of a key's shares: as it is stored, and as schemes use it. */
import type { Element, GroupKey } from "../../threshold/ThresholdScheme.ts";
import { memoized } from "../../base/Memo.ts";
import type { GroupRecord } from "./KeyRecord.ts";

/** Of a key that is not shared. */
export const UNSHARED: GroupRecord = { threshold: 1, commitments: [], verifyingShares: [] };

export const groupRecordOf = ({ threshold, commitments, verifyingShares }: GroupKey): GroupRecord => ({
  threshold,
  commitments,
  verifyingShares: [...verifyingShares]
    .map(([index, element]) => ({ index, element }))
    .toSorted((left, right) => left.index - right.index),
});

/** Elements that were certified were written by a scheme. */
const elementIn = (text: string): Element => text as Element;

export const groupKeyOf = memoized(
  ({ threshold, commitments, verifyingShares }: GroupRecord): GroupKey => ({
    threshold,
    commitments: commitments.map(elementIn),
    verifyingShares: new Map(verifyingShares.map(({ index, element }) => [index, elementIn(element)])),
  }),
);
