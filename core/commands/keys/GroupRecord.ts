/** What everybody knows of a key's shares, as it is stored. */
import type { GroupKey } from "../../threshold/ThresholdScheme.ts";
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
