/**
 * The tweak of a Taproot output key that commits to no script (BIP 341 "Constructing and spending Taproot outputs",
 * BIP 86). Shares are kept without it, so that refresh and repair know nothing of it; it is added when one is used.
 */
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { Element, GroupKey, KeyAndShare } from "../../core/threshold/ThresholdScheme.ts";

const { Point } = secp256k1;
const { Fn } = Point;
type CurvePoint = InstanceType<typeof Point>;

const isEven = (point: CurvePoint): boolean => point.toAffine().y % 2n === 0n;

const keyPoint = ({ commitments: [constant] }: GroupKey): CurvePoint => Point.fromHex(constant ?? "");

/** The x coordinate alone, as BIP 340 has public keys. */
export const xOnly = (key: GroupKey): string => bytesToHex(schnorr.utils.pointToBytes(keyPoint(key)));

/** What is added to the key, whose y is even. */
const tweakOf = (key: CurvePoint): bigint =>
  Fn.fromBytes(schnorr.utils.taggedHash("TapTweak", schnorr.utils.pointToBytes(key)));

/** The key and its tweak are added where y is even; where it is not, to its negative. */
const adjusting = (key: GroupKey) => {
  const inner = keyPoint(key);
  const isKept = isEven(inner);
  const tweak = tweakOf(isKept ? inner : inner.negate());
  const added = Point.BASE.multiply(tweak);
  const even = (element: Element): CurvePoint => {
    const point = Point.fromHex(element);
    return isKept ? point : point.negate();
  };
  return {
    key: (): GroupKey => ({
      threshold: key.threshold,
      commitments: key.commitments.map(
        (each, power) => (power === 0 ? even(each).add(added) : even(each)).toHex() as Element,
      ),
      verifyingShares: new Map(
        [...key.verifyingShares].map(([index, each]) => [index, even(each).add(added).toHex() as Element]),
      ),
    }),
    share: (secret: Secret): Secret => {
      const scalar = Fn.fromBytes(secret.expose());
      return new Secret(Fn.toBytes(Fn.add(isKept ? scalar : Fn.neg(scalar), tweak)));
    },
  };
};

export const tweakedKey = (key: GroupKey): GroupKey => adjusting(key).key();

export const tweaked = ({ key, share: { index, secret } }: KeyAndShare): KeyAndShare => {
  const adjusted = adjusting(key);
  return { key: adjusted.key(), share: { index, secret: adjusted.share(secret) } };
};
