/** Distributed key generation (PedPoP), by the library: this file gives it a seed and says who was wrong. */
import type { DKG_Round1, DKG_Round2, DKG_Secret } from "@noble/curves/abstract/frost.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type {
  Element,
  KeyAndShare,
  KeygenPackage,
  Parties,
  SecretsFor,
  ShareIndex,
  ThresholdScheme,
} from "../../core/threshold/ThresholdScheme.ts";
import {
  assertOthers,
  assertParties,
  attempt,
  committedAt,
  expansion,
  failing,
  type Group,
  Misfit,
  nameOf,
  type Point,
  pointOf,
  scalarOf,
} from "./Group.ts";

interface Begun {
  readonly public: DKG_Round1;
  readonly secret: DKG_Secret;
}

/** A seed that everybody knows: what is made of it stands in for this member, and hides nothing. */
const KNOWN = new Secret(new Uint8Array(32));

const begin = <P extends Point<P>>(group: Group<P>, seed: Secret, me: ShareIndex, parties: Parties): Begun => {
  const signers = { min: parties.threshold, max: parties.indexes.length };
  return group.keygen.DKG.round1(nameOf(group, me), signers, undefined, expansion(seed, "keygen"));
};

const bytesOf = (element: Element) => hexToBytes(element);

const roundOne = <P extends Point<P>>(group: Group<P>, { index, commitments, proof }: KeygenPackage): DKG_Round1 => {
  for (const each of commitments) pointOf(group, each);
  const bytes = hexToBytes(proof);
  if (bytesToHex(bytes) !== proof) throw new RangeError("not in its one form");
  return { identifier: nameOf(group, index), commitment: commitments.map(bytesOf), proofOfKnowledge: bytes };
};

/**
 * Whose packages the library refuses. Each is looked at in a session of two, of which it takes two commitments: the
 * proof is about the first alone, and to look at all of them beside each other would take minutes of a large cluster.
 */
const refused = <P extends Point<P>>(
  group: Group<P>,
  me: ShareIndex,
  { threshold }: Parties,
  others: ReadonlyArray<KeygenPackage>,
): ReadonlyArray<ShareIndex> => {
  const { secret } = begin(group, KNOWN, me, { threshold: 2, indexes: [me, me + 1] });
  return failing(others, (looked) => {
    const said = roundOne(group, looked);
    if (said.commitment.length !== threshold) return false;
    return group.keygen.DKG.round2({ ...secret }, [{ ...said, commitment: said.commitment.slice(0, 2) }]);
  });
};

/** Shares for the others, and the state from which the library goes on. */
const continued = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  me: ShareIndex,
  parties: Parties,
  others: ReadonlyArray<KeygenPackage>,
): { readonly secret: DKG_Secret; readonly first: Array<DKG_Round1>; readonly shares: Record<string, DKG_Round2> } => {
  assertOthers(
    parties,
    me,
    others.map(({ index }) => index),
    "package",
  );
  const { secret } = begin(group, seed, me, parties);
  try {
    const first = others.map((each) => roundOne(group, each));
    return { secret, first, shares: group.keygen.DKG.round2(secret, first) };
  } catch {
    throw new Misfit(refused(group, me, parties, others), "the package does not prove that its constant is known");
  }
};

/** What the library makes; where it makes nothing, it is looked at whose share is wrong. */
const madeOf = <P extends Point<P>, A>(
  group: Group<P>,
  me: ShareIndex,
  others: ReadonlyArray<KeygenPackage>,
  received: SecretsFor,
  make: () => A,
): A => {
  try {
    return make();
  } catch {
    const wrong = failing(others, ({ index, commitments }) => {
      const points = commitments.map((each) => pointOf(group, each));
      const scalar = scalarOf(group, received.get(index)?.expose() ?? new Uint8Array());
      return group.Point.BASE.multiply(scalar).equals(committedAt(group, points, me));
    });
    throw new Misfit(wrong, "the share does not lie on its sender's polynomial");
  }
};

const finished = <P extends Point<P>>(
  group: Group<P>,
  seed: Secret,
  me: ShareIndex,
  parties: Parties,
  others: ReadonlyArray<KeygenPackage>,
  received: SecretsFor,
): KeyAndShare => {
  assertOthers(parties, me, [...received.keys()], "share");
  const { secret, first } = continued(group, seed, me, parties, others);
  const second = others.map(({ index }) => ({
    identifier: nameOf(group, index),
    signingShare: received.get(index)?.expose() ?? new Uint8Array(),
  }));
  const made = madeOf(group, me, others, received, () => group.keygen.DKG.round3(secret, first, second));
  const share = { index: me, secret: new Secret(made.secret.signingShare) };
  made.secret.signingShare.fill(0);
  const verifying = (index: ShareIndex): Element =>
    bytesToHex(made.public.verifyingShares[nameOf(group, index)] ?? new Uint8Array()) as Element;
  return {
    key: {
      threshold: parties.threshold,
      commitments: made.public.commitments.map((each) => bytesToHex(each) as Element),
      verifyingShares: new Map(parties.indexes.map((index) => [index, verifying(index)])),
    },
    share,
  };
};

export const keygen = <P extends Point<P>>(
  group: Group<P>,
): Pick<ThresholdScheme, "keygenPackage" | "keygenShares" | "keygenFinish"> => ({
  keygenPackage: (seed, me, parties) => {
    assertParties(parties, me);
    const { public: made, secret } = begin(group, seed, me, parties);
    group.keygen.DKG.clean(secret);
    return {
      index: me,
      commitments: made.commitment.map((each) => bytesToHex(each) as Element),
      proof: bytesToHex(made.proofOfKnowledge),
    };
  },
  keygenShares: (seed, me, parties, others) => {
    assertParties(parties, me);
    return attempt(() => {
      const { secret, shares } = continued(group, seed, me, parties, others);
      const all = others.map(({ index }): [ShareIndex, Secret] => {
        const bytes = shares[nameOf(group, index)]?.signingShare ?? new Uint8Array();
        const held = new Secret(bytes);
        bytes.fill(0);
        return [index, held];
      });
      group.keygen.DKG.clean(secret);
      return new Map(all);
    }, "the packages do not fit together");
  },
  keygenFinish: (seed, me, parties, others, received) => {
    assertParties(parties, me);
    return attempt(
      () => finished(group, seed, me, parties, others, received),
      "packages and shares do not fit together",
    );
  },
});
