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
  pointOf,
  scalarOf,
  secretOf,
  valueAt,
} from "./Group.ts";

const coefficientsOf = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  threshold: number,
): ReadonlyArray<bigint> => {
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

const packageOf = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  me: ShareIndex,
  { threshold }: Parties,
): RefreshPackage => {
  const [, ...drawn] = coefficientsOf(group, seed, threshold);
  return { index: me, commitments: drawn.map((each) => elementOf(group.Point.BASE.multiply(each))) };
};

/** The key after all of these have been added to it. */
const refreshedKey = <P extends Point<P>>(
  group: Group<P>,
  { threshold, commitments, verifyingShares }: GroupKey,
  packages: ReadonlyArray<RefreshPackage>,
): GroupKey => {
  const all = packages.map((each) => pointsOf(group, each, threshold));
  const points = commitments.map((each, power) =>
    all.reduce((sum, added) => sum.add(added[power] ?? group.Point.ZERO), pointOf(group, each)),
  );
  return {
    threshold,
    commitments: points.map(elementOf),
    verifyingShares: new Map(
      [...verifyingShares.keys()].map((index) => [index, elementOf(committedAt(group, points, index))]),
    ),
  };
};

const finished = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  { key, share }: KeyAndShare,
  others: ReadonlyArray<RefreshPackage>,
  received: SecretsFor,
): KeyAndShare => {
  const parties = { threshold: key.threshold, indexes: [...key.verifyingShares.keys()] };
  const me = share.index;
  assertParties(parties, me);
  assertOthers(
    parties,
    me,
    others.map(({ index }) => index),
    "package",
  );
  assertOthers(parties, me, [...received.keys()], "share");
  const partOf = (index: ShareIndex): bigint => scalarOf(group, received.get(index)?.expose() ?? new Uint8Array());
  const wrong = failing(others, (each) =>
    group.Point.BASE.multiply(partOf(each.index)).equals(committedAt(group, pointsOf(group, each, key.threshold), me)),
  );
  if (wrong.length > 0) throw new Misfit(wrong, "the share does not lie on a polynomial without a constant term");
  const { Fn } = group.keygen.utils;
  const added = others.reduce(
    (sum, { index }) => Fn.add(sum, partOf(index)),
    valueAt(group, coefficientsOf(group, seed, key.threshold), me),
  );
  return {
    key: refreshedKey(group, key, [packageOf(group, seed, me, parties), ...others]),
    share: { index: me, secret: secretOf(group, Fn.add(scalarOf(group, share.secret.expose()), added)) },
  };
};

export const refresh = <P extends Point<P>>(
  group: Group<P>,
): Pick<ThresholdScheme, "refreshPackage" | "refreshShares" | "refreshFinish"> => ({
  refreshPackage: (seed, me, parties) => {
    assertParties(parties, me);
    return packageOf(group, seed, me, parties);
  },
  refreshShares: (seed, me, parties) => {
    assertParties(parties, me);
    const coefficients = coefficientsOf(group, seed, parties.threshold);
    const others = parties.indexes.filter((each) => each !== me);
    return new Map(others.map((each) => [each, secretOf(group, valueAt(group, coefficients, each))]));
  },
  refreshFinish: (seed, old, others, received) =>
    attempt(() => finished(group, seed, old, others, received), "packages and shares do not fit together"),
});
