/**
 * Repair of a lost share without showing it to a helper (Stinson and Wei 2018, "Combinatorial Repairability for
 * Threshold Schemes", 2.2): each helper splits its weighted share among all, and only sums go to the target.
 */
import { Either } from "effect";
import type { Secret } from "../../core/threshold/Secret.ts";
import type { ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import { drawScalar, elementOf, expansion, type Group, type Point, scalarOf, secretOf, weight } from "./Group.ts";

const sumOf = <P extends Point<P>>(group: Group<P>, secrets: ReadonlyArray<Secret>): bigint => {
  const { Fn } = group.keygen.utils;
  return secrets.reduce((sum, each) => Fn.add(sum, scalarOf(group, each.expose())), Fn.ZERO);
};

export const repair = <P extends Point<P>>(
  group: Group<P>,
): Pick<ThresholdScheme, "repairParts" | "repairSum" | "repairJoin"> => ({
  repairParts: (seed, { index, secret }, helpers, target) => {
    const isAll = new Set(helpers).size === helpers.length && helpers.includes(index);
    if (!isAll || helpers.includes(target))
      throw new RangeError(`${helpers.join(", ")} do not repair the share of ${target}, or ${index} is none of them`);
    const { Fn } = group.keygen.utils;
    const random = expansion(seed, "repair");
    const drawn = helpers.slice(1).map(() => drawScalar(group, random));
    const whole = Fn.mul(weight(group, helpers, index, target), scalarOf(group, secret.expose()));
    const rest = drawn.reduce((left, each) => Fn.sub(left, each), whole);
    return new Map([rest, ...drawn].map((part, at) => [helpers[at] ?? 0, secretOf(group, part)]));
  },
  repairSum: (parts) => {
    try {
      return secretOf(group, sumOf(group, parts));
    } catch {
      return undefined;
    }
  },
  repairJoin: (sums, { verifyingShares }, target) => {
    const wrong = { indexes: [], why: "the sums do not make the share that was lost" };
    try {
      const scalar = sumOf(group, sums);
      const isLost = elementOf(group.Point.BASE.multiply(scalar)) === verifyingShares.get(target);
      return isLost ? Either.right({ index: target, secret: secretOf(group, scalar) }) : Either.left(wrong);
    } catch {
      return Either.left(wrong);
    }
  },
});
