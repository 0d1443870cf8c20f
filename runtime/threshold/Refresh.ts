/**
 * New shares of the same key: members share a zero. Each draws a polynomial without a constant term, so that the key
 * stays what it is and shares of two generations do not fit together (Herzberg et al. 1995, "Proactive Secret Sharing").
 */
import type { Secret } from "../../core/threshold/Secret.ts";
import type {
  GroupKey,
  KeyAndShare,
  Parties,
  RefreshPackage,
  SecretsFor,
  Share,
  ShareIndex,
  ThresholdScheme,
} from "../../core/threshold/ThresholdScheme.ts";
import {
  assertOthers,
  assertParties,
  attempt,
  committedAt,
  drawScalar,
  elementOf,
  expansion,
  failing,
  type Group,
  Misfit,
  type Point,
  type Protocols,
  pointOf,
  scalarOf,
  secretOf,
  valueAt,
} from "./Group.ts";

/** A polynomial without a constant term. */
export const zeroSharing = (group: Protocols, seed: Secret, threshold: number): ReadonlyArray<bigint> => {
  const random = expansion(seed, "refresh");
  return [0n, ...Array.from({ length: threshold - 1 }, () => drawScalar(group, random))];
};

/** Commitments to all coefficients, the constant zero included. */
const pointsOf = <P extends Point<P>>(
  group: Group<P>,
  { commitments }: RefreshPackage,
  threshold: number,
): ReadonlyArray<P> => {
  if (commitments.length !== threshold - 1) throw new RangeError("not of this threshold");
  return [group.Point.ZERO, ...commitments.map((each) => pointOf(group, each))];
};

/** Commitments to all coefficients but the constant zero. */
export const committedTo = <P extends Point<P>>(
  group: Group<P>,
  [, ...drawn]: ReadonlyArray<bigint>,
  me: ShareIndex,
): RefreshPackage => ({ index: me, commitments: drawn.map((each) => elementOf(group.Point.BASE.multiply(each))) });

/** The values of a polynomial for all other parties. */
export const valuesFor = (
  group: Protocols,
  coefficients: ReadonlyArray<bigint>,
  me: ShareIndex,
  { indexes }: Parties,
): SecretsFor =>
  new Map(
    indexes.filter((each) => each !== me).map((each) => [each, secretOf(group, valueAt(group, coefficients, each))]),
  );

/** The key after all of these have been added to the polynomial to whose coefficients these are commitments. */
const refreshedKey = <P extends Point<P>>(
  group: Group<P>,
  commitments: ReadonlyArray<P>,
  { threshold, indexes }: Parties,
  packages: ReadonlyArray<RefreshPackage>,
): GroupKey => {
  const all = packages.map((each) => pointsOf(group, each, threshold));
  const points = commitments.map((each, power) =>
    all.reduce((sum, added) => sum.add(added[power] ?? group.Point.ZERO), each),
  );
  return {
    threshold,
    commitments: points.map(elementOf),
    verifyingShares: new Map(indexes.map((index) => [index, elementOf(committedAt(group, points, index))])),
  };
};

/**
 * A share with what these, and this member itself, share of zero. What it is added to may have a value of zero at some
 * member, which has no encoding; the sum has none.
 *
 * @param commitments to the coefficients of the polynomial on which the share lies
 */
export const addedUp = <P extends Point<P>>(
  group: Group<P>,
  commitments: ReadonlyArray<P>,
  share: Share,
  parties: Parties,
  own: ReadonlyArray<bigint>,
  others: ReadonlyArray<RefreshPackage>,
  received: SecretsFor,
): KeyAndShare => {
  const me = share.index;
  const partOf = (index: ShareIndex): bigint => scalarOf(group, received.get(index)?.expose() ?? new Uint8Array());
  const wrong = failing(others, (each) =>
    group.Point.BASE.multiply(partOf(each.index)).equals(
      committedAt(group, pointsOf(group, each, parties.threshold), me),
    ),
  );
  if (wrong.length > 0) throw new Misfit(wrong, "the share does not lie on a polynomial without a constant term");
  const { Fn } = group.keygen.utils;
  const added = others.reduce((sum, { index }) => Fn.add(sum, partOf(index)), valueAt(group, own, me));
  const packages = own.length === 0 ? others : [committedTo(group, own, me), ...others];
  return {
    key: refreshedKey(group, commitments, parties, packages),
    share: { index: me, secret: secretOf(group, Fn.add(scalarOf(group, share.secret.expose()), added)) },
  };
};

const finished = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  old: KeyAndShare,
  others: ReadonlyArray<RefreshPackage>,
  received: SecretsFor,
): KeyAndShare => {
  const parties = { threshold: old.key.threshold, indexes: [...old.key.verifyingShares.keys()] };
  const me = old.share.index;
  assertParties(parties, me);
  assertAll(parties, me, others, received);
  const commitments = old.key.commitments.map((each) => pointOf(group, each));
  return addedUp(group, commitments, old.share, parties, zeroSharing(group, seed, parties.threshold), others, received);
};

/** Throws unless each of the other parties has told its package and its share. */
export const assertAll = (
  parties: Parties,
  me: ShareIndex,
  others: ReadonlyArray<RefreshPackage>,
  received: SecretsFor,
): void => {
  assertOthers(
    parties,
    me,
    others.map(({ index }) => index),
    "package",
  );
  assertOthers(parties, me, [...received.keys()], "share");
};

export const refresh = <P extends Point<P>>(
  group: Group<P>,
): Pick<ThresholdScheme, "refreshPackage" | "refreshShares" | "refreshFinish"> => ({
  refreshPackage: (seed, me, parties) => {
    assertParties(parties, me);
    return committedTo(group, zeroSharing(group, seed, parties.threshold), me);
  },
  refreshShares: (seed, me, parties) => {
    assertParties(parties, me);
    return valuesFor(group, zeroSharing(group, seed, parties.threshold), me, parties);
  },
  refreshFinish: (seed, old, others, received) =>
    attempt(() => finished(group, seed, old, others, received), "packages and shares do not fit together"),
});
