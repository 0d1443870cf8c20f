/**
 * The first shares of a key that was whole at one member, the dealer (RFC 9591 appendix C, with the commitments of
 * Feldman's verifiable secret sharing). All others share a zero, as in a refresh: the dealer knows the key, which it had
 * before, and where more than two sign no other's share. Where two sign, the key and a share tell all.
 */
import type { Secret } from "../../core/threshold/Secret.ts";
import type {
  DealPackage,
  KeyAndShare,
  Parties,
  SecretsFor,
  ShareIndex,
  ThresholdScheme,
  WholeKey,
} from "../../core/threshold/ThresholdScheme.ts";
import {
  assertParties,
  attempt,
  committedAt,
  drawScalar,
  expansion,
  type Group,
  Misfit,
  type Point,
  pointOf,
  scalarOf,
  secretOf,
  valueAt,
} from "./Group.ts";
import { addedUp, assertAll, committedTo, valuesFor, zeroSharing } from "./Refresh.ts";

type PublicKeyOf = ThresholdScheme["publicKey"];

/** The dealer's polynomial, whose constant term is the key; everybody else's has none. */
const polynomialOf = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  { dealer, secret }: WholeKey,
  me: ShareIndex,
  { threshold }: Parties,
): ReadonlyArray<bigint> => {
  if (me !== dealer) return zeroSharing(group, seed, threshold);
  if (secret === undefined) throw new RangeError("the dealer has no key to share");
  const random = expansion(seed, "deal");
  return [scalarOf(group, secret.expose()), ...Array.from({ length: threshold - 1 }, () => drawScalar(group, random))];
};

const packageOf = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  whole: WholeKey,
  me: ShareIndex,
  parties: Parties,
): DealPackage => {
  const polynomial = polynomialOf(group, seed, whole, me, parties);
  // The constant term is what a package of a refresh leaves out.
  return committedTo(group, me === whole.dealer ? [0n, ...polynomial] : polynomial, me);
};

/** The dealer's commitments, if they are to a polynomial of this key. */
const dealtPoints = <P extends Point<P>>(
  group: Group<P>,
  publicKeyOf: PublicKeyOf,
  { dealer, publicKey }: WholeKey,
  { commitments }: DealPackage,
  { threshold }: Parties,
): ReadonlyArray<P> => {
  try {
    const points = commitments.map((each) => pointOf(group, each));
    const key = { threshold, commitments, verifyingShares: new Map() };
    if (points.length === threshold && publicKeyOf(key) === publicKey) return points;
  } catch {
    // Whatever it is, it is not of this key.
  }
  throw new Misfit([dealer], "the polynomial is not one of the key that is dealt");
};

const finished = <P extends Point<P>>(
  group: Group<P>,
  publicKeyOf: PublicKeyOf,
  seed: Secret,
  whole: WholeKey,
  me: ShareIndex,
  parties: Parties,
  others: ReadonlyArray<DealPackage>,
  received: SecretsFor,
): KeyAndShare => {
  const { dealer } = whole;
  assertParties(parties, me);
  assertAll(parties, me, others, received);
  const polynomial = polynomialOf(group, seed, whole, me, parties);
  const isDealer = me === dealer;
  const dealt = isDealer ? packageOf(group, seed, whole, me, parties) : others.find(({ index }) => index === dealer);
  if (dealt === undefined) throw new Misfit([dealer], "the dealer is none of the parties");
  const points = dealtPoints(group, publicKeyOf, whole, dealt, parties);
  const value = isDealer ? secretOf(group, valueAt(group, polynomial, me)) : received.get(dealer);
  if (value === undefined || !isOn(group, points, me, value))
    throw new Misfit([dealer], "the share does not lie on the dealer's polynomial");
  const rest = others.filter(({ index }) => index !== dealer);
  return addedUp(group, points, { index: me, secret: value }, parties, isDealer ? [] : polynomial, rest, received);
};

const isOn = <P extends Point<P>>(
  group: Group<P>,
  points: ReadonlyArray<P>,
  me: ShareIndex,
  value: Secret,
): boolean => {
  try {
    return group.Point.BASE.multiply(scalarOf(group, value.expose())).equals(committedAt(group, points, me));
  } catch {
    return false;
  }
};

export const deal = <P extends Point<P>>(
  group: Group<P>,
  publicKeyOf: PublicKeyOf,
): Pick<ThresholdScheme, "dealPackage" | "dealShares" | "dealFinish"> => ({
  dealPackage: (seed, whole, me, parties) => {
    assertParties(parties, me);
    return packageOf(group, seed, whole, me, parties);
  },
  dealShares: (seed, whole, me, parties) => {
    assertParties(parties, me);
    return valuesFor(group, polynomialOf(group, seed, whole, me, parties), me, parties);
  },
  dealFinish: (seed, whole, me, parties, others, received) =>
    attempt(
      () => finished(group, publicKeyOf, seed, whole, me, parties, others, received),
      "packages and shares do not fit together",
    ),
});
