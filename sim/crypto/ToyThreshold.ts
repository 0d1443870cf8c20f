/**
 * A threshold scheme over a group in which logarithms are read off: FROST (RFC 9591) with the key generation, refresh and
 * repair of the real schemes, number for number, without their library.
 */
import { Either } from "effect";
import type { Secret } from "../../core/threshold/Secret.ts";
import type {
  Blame,
  GroupKey,
  KeyAndShare,
  KeygenPackage,
  NonceCommitments,
  Parties,
  SecretsFor,
  Share,
  ShareIndex,
  SignatureShare,
  ThresholdScheme,
  WholeKey,
} from "../../core/threshold/ThresholdScheme.ts";
import {
  challengeOf,
  elementOf,
  expanded,
  hashed,
  isSignature,
  logarithmOf,
  modulo,
  numberOf,
  scalarOf,
  secretOf,
  valueAt,
  valueOf,
  weightOf,
} from "./ToyGroup.ts";

/** Numbers of which all are there. */
const whole = (values: ReadonlyArray<bigint | undefined>): ReadonlyArray<bigint> | undefined =>
  values.some((each) => each === undefined) ? undefined : values.flatMap((each) => each ?? []);

const logarithmsOf = (elements: ReadonlyArray<string>): ReadonlyArray<bigint> | undefined =>
  whole(elements.map(logarithmOf));

const blame = (indexes: ReadonlyArray<ShareIndex>, why: string): Either.Either<never, Blame> =>
  Either.left({ indexes, why });

const assertParties = ({ threshold, indexes }: Parties, me: ShareIndex): void => {
  const isEach = indexes.every((each) => Number.isSafeInteger(each) && each >= 1);
  const isAll = isEach && new Set(indexes).size === indexes.length && indexes.includes(me);
  if (!isAll || threshold < 2 || threshold > indexes.length)
    throw new RangeError(`${threshold} of ${indexes.join(", ")} do not hold a key, or ${me} is none of them`);
};

/** Whoever has not said one thing, of the other parties. */
const silent = ({ indexes }: Parties, me: ShareIndex, heard: ReadonlyArray<ShareIndex>): Blame | undefined => {
  const missing = indexes.filter((each) => each !== me && !heard.includes(each));
  if (missing.length > 0) return { indexes: missing, why: "something of them is missing" };
  return heard.length === indexes.length - 1 ? undefined : { indexes: [], why: "there is more than one of each" };
};

const indexesOf = (all: ReadonlyArray<{ readonly index: ShareIndex }>): ReadonlyArray<ShareIndex> =>
  all.map(({ index }) => index);

const coefficientsOf = (seed: Secret, { threshold }: Parties): ReadonlyArray<bigint> =>
  expanded(seed, "keygen", threshold);

const zeroSharing = (seed: Secret, { threshold }: Pick<Parties, "threshold">): ReadonlyArray<bigint> => [
  0n,
  ...expanded(seed, "refresh", threshold - 1),
];

/** The dealer's polynomial has the key as its constant term, everybody else's none. */
const dealing = (
  seed: Secret,
  { dealer, secret }: WholeKey,
  me: ShareIndex,
  parties: Parties,
): ReadonlyArray<bigint> => {
  if (me !== dealer) return zeroSharing(seed, parties);
  const key = secret && numberOf(secret);
  if (key === undefined) throw new RangeError("the dealer has no key to share");
  return [key, ...expanded(seed, "deal", parties.threshold - 1)];
};

const proofChallenge = (index: ShareIndex, constant: string, nonce: string): bigint =>
  hashed("proof", `${index}`, constant, nonce);

const packageOf = (seed: Secret, me: ShareIndex, parties: Parties): KeygenPackage => {
  const coefficients = coefficientsOf(seed, parties);
  const commitments = coefficients.map(elementOf);
  const nonce = hashed("proof nonce", seed.expose());
  const shown: string = elementOf(nonce);
  const answer = nonce + proofChallenge(me, commitments[0] ?? "", shown) * (coefficients[0] ?? 0n);
  return { index: me, commitments, proof: shown + scalarOf(answer) };
};

const isProven = ({ index, commitments, proof }: KeygenPackage, { threshold }: Parties): boolean => {
  const [constant = ""] = commitments;
  const shown = proof.slice(0, constant.length);
  const [secret, nonce, answer] = [logarithmOf(constant), logarithmOf(shown), valueOf(proof.slice(shown.length))];
  if (secret === undefined || nonce === undefined || answer === undefined) return false;
  if (commitments.length !== threshold || logarithmsOf(commitments) === undefined) return false;
  return answer === modulo(nonce + proofChallenge(index, constant, shown) * secret);
};

const valuesFor = (coefficients: ReadonlyArray<bigint>, me: ShareIndex, { indexes }: Parties): SecretsFor =>
  new Map(indexes.filter((each) => each !== me).map((each) => [each, secretOf(valueAt(coefficients, each))]));

/** What holds together of polynomials that were added up: commitments to their coefficients, and shares of all. */
const keyOf = (sums: ReadonlyArray<bigint>, { threshold, indexes }: Parties): GroupKey => ({
  threshold,
  commitments: sums.map(elementOf),
  verifyingShares: new Map(indexes.map((each) => [each, elementOf(valueAt(sums, each))])),
});

const added = (polynomials: ReadonlyArray<ReadonlyArray<bigint>>, threshold: number): ReadonlyArray<bigint> =>
  Array.from({ length: threshold }, (_, power) =>
    polynomials.reduce((sum, each) => modulo(sum + (each[power] ?? 0n)), 0n),
  );

/** Adds up what members told this one; blames those whose value is not on their polynomial. */
const received = (
  me: ShareIndex,
  polynomials: ReadonlyMap<ShareIndex, ReadonlyArray<bigint> | undefined>,
  told: SecretsFor,
): Either.Either<bigint, Blame> => {
  const wrong: Array<ShareIndex> = [];
  let sum = 0n;
  for (const [index, polynomial] of polynomials) {
    const value = numberOf(told.get(index));
    if (polynomial === undefined || value !== valueAt(polynomial, me)) wrong.push(index);
    else sum = modulo(sum + value);
  }
  return wrong.length > 0 ? blame(wrong, "the share does not lie on its sender's polynomial") : Either.right(sum);
};

const noncesOf = (seed: Secret, { secret }: Share): readonly [bigint, bigint] => {
  const bytes = secret.expose();
  return [hashed("hiding", seed.expose(), bytes), hashed("binding", seed.expose(), bytes)];
};

interface Listed {
  readonly factors: ReadonlyMap<ShareIndex, bigint>;
  /** The element of all nonces, bound. */
  readonly commitment: string;
  readonly challenge: bigint;
  readonly indexes: ReadonlyArray<ShareIndex>;
}

const listed = (
  { threshold, verifyingShares, commitments: [constant] }: GroupKey,
  commitments: ReadonlyArray<NonceCommitments>,
  message: Uint8Array,
): Either.Either<Listed, Blame> => {
  const publicKey = constant ?? "";
  const indexes = indexesOf(commitments);
  const strangers = indexes.filter((each) => !verifyingShares.has(each));
  if (strangers.length > 0) return blame(strangers, "it holds no share of the key");
  if (new Set(indexes).size !== indexes.length) return blame([], "a member is there twice");
  if (indexes.length < threshold) return blame([], `fewer than ${threshold} sign`);
  const wrong = commitments.filter(({ hiding, binding }) => logarithmsOf([hiding, binding]) === undefined);
  if (wrong.length > 0) return blame(indexesOf(wrong), "the commitments are no elements of the group");
  const sorted = commitments.toSorted((left, right) => left.index - right.index);
  const text = sorted.map(({ index, hiding, binding }) => `${index} ${hiding} ${binding}`).join(",");
  const factors = new Map(indexes.map((each) => [each, hashed("binding factor", publicKey, message, text, `${each}`)]));
  let sum = 0n;
  for (const { index, hiding, binding } of commitments)
    sum += (logarithmOf(hiding) ?? 0n) + (logarithmOf(binding) ?? 0n) * (factors.get(index) ?? 0n);
  const commitment = elementOf(sum);
  return Either.right({ factors, commitment, challenge: challengeOf(commitment, publicKey, message), indexes });
};

const isShare = (
  { verifyingShares }: GroupKey,
  { factors, challenge, indexes }: Listed,
  commitments: ReadonlyArray<NonceCommitments>,
  { index, scalar }: SignatureShare,
): boolean => {
  const own = commitments.find((each) => each.index === index);
  const share = logarithmOf(verifyingShares.get(index) ?? "");
  if (own === undefined || share === undefined) return false;
  const nonce = (logarithmOf(own.hiding) ?? 0n) + (logarithmOf(own.binding) ?? 0n) * (factors.get(index) ?? 0n);
  return valueOf(scalar) === modulo(nonce + weightOf(indexes, index, 0) * share * challenge);
};

/** Whether it is a member's share of the signature of this message under these commitments, and of no other. */
export const isShareOf = (
  key: GroupKey,
  commitments: ReadonlyArray<NonceCommitments>,
  message: Uint8Array,
  share: SignatureShare,
): boolean =>
  Either.match(listed(key, commitments, message), {
    onLeft: () => false,
    onRight: (list) => isShare(key, list, commitments, share),
  });

export const toyScheme: ThresholdScheme = {
  publicKey: ({ commitments: [constant] }) => constant ?? "",

  keygenPackage: (seed, me, parties) => {
    assertParties(parties, me);
    return packageOf(seed, me, parties);
  },
  keygenShares: (seed, me, parties, others) => {
    assertParties(parties, me);
    const missing = silent(parties, me, indexesOf(others));
    if (missing !== undefined) return Either.left(missing);
    const wrong = others.filter((each) => !isProven(each, parties));
    if (wrong.length > 0) return blame(indexesOf(wrong), "the package does not prove that its constant is known");
    return Either.right(valuesFor(coefficientsOf(seed, parties), me, parties));
  },
  keygenFinish: (seed, me, parties, others, told) => {
    assertParties(parties, me);
    const missing = silent(parties, me, indexesOf(others)) ?? silent(parties, me, [...told.keys()]);
    if (missing !== undefined) return Either.left(missing);
    const unproven = others.filter((each) => !isProven(each, parties));
    if (unproven.length > 0) return blame(indexesOf(unproven), "the package does not prove that its constant is known");
    const polynomials = new Map(others.map(({ index, commitments }) => [index, logarithmsOf(commitments)]));
    const own = coefficientsOf(seed, parties);
    const sums = added(
      [own, ...[...polynomials.values()].flatMap((each) => (each === undefined ? [] : [each]))],
      own.length,
    );
    return Either.map(received(me, polynomials, told), (sum) => ({
      key: keyOf(sums, parties),
      share: { index: me, secret: secretOf(sum + valueAt(own, me)) },
    }));
  },

  refreshPackage: (seed, me, parties) => {
    assertParties(parties, me);
    const [, ...drawn] = zeroSharing(seed, parties);
    return { index: me, commitments: drawn.map(elementOf) };
  },
  refreshShares: (seed, me, parties) => {
    assertParties(parties, me);
    return valuesFor(zeroSharing(seed, parties), me, parties);
  },
  refreshFinish: (seed, { key, share }: KeyAndShare, others, told) => {
    const parties = { threshold: key.threshold, indexes: [...key.verifyingShares.keys()] };
    const missing = silent(parties, share.index, indexesOf(others)) ?? silent(parties, share.index, [...told.keys()]);
    if (missing !== undefined) return Either.left(missing);
    const polynomials = new Map(
      others.map(({ index, commitments }) => {
        const drawn = commitments.length === key.threshold - 1 ? logarithmsOf(commitments) : undefined;
        return [index, drawn && [0n, ...drawn]] as const;
      }),
    );
    const old = logarithmsOf(key.commitments);
    const before = numberOf(share.secret);
    if (old === undefined || before === undefined) return blame([], "there is no key to refresh");
    const own = zeroSharing(seed, parties);
    const drawn = [...polynomials.values()].flatMap((each) => (each === undefined ? [] : [each]));
    const sums = added([old, own, ...drawn], key.threshold);
    return Either.map(received(share.index, polynomials, told), (sum) => ({
      key: keyOf(sums, parties),
      share: { index: share.index, secret: secretOf(before + sum + valueAt(own, share.index)) },
    }));
  },

  dealPackage: (seed, whole, me, parties) => {
    assertParties(parties, me);
    const [constant, ...drawn] = dealing(seed, whole, me, parties);
    return { index: me, commitments: [...(me === whole.dealer ? [constant ?? 0n] : []), ...drawn].map(elementOf) };
  },
  dealShares: (seed, whole, me, parties) => {
    assertParties(parties, me);
    return valuesFor(dealing(seed, whole, me, parties), me, parties);
  },
  dealFinish: (seed, whole, me, parties, others, told) => {
    assertParties(parties, me);
    const missing = silent(parties, me, indexesOf(others)) ?? silent(parties, me, [...told.keys()]);
    if (missing !== undefined) return Either.left(missing);
    const own = dealing(seed, whole, me, parties);
    const polynomials = new Map(
      others.map(({ index, commitments }) => {
        const isDealer = index === whole.dealer;
        const drawn =
          commitments.length === parties.threshold - (isDealer ? 0 : 1) ? logarithmsOf(commitments) : undefined;
        const isIts = !isDealer || commitments[0] === whole.publicKey;
        return [index, drawn && isIts ? [...(isDealer ? [] : [0n]), ...drawn] : undefined] as const;
      }),
    );
    const drawn = [...polynomials.values()].flatMap((each) => (each === undefined ? [] : [each]));
    const sums = added([own, ...drawn], parties.threshold);
    return Either.map(received(me, polynomials, told), (sum) => ({
      key: keyOf(sums, parties),
      share: { index: me, secret: secretOf(sum + valueAt(own, me)) },
    }));
  },

  commit: (seed, share) => {
    const [hiding, binding] = noncesOf(seed, share);
    return { index: share.index, hiding: elementOf(hiding), binding: elementOf(binding) };
  },
  sign: (seed, { key, share }, commitments, message) =>
    Either.flatMap(listed(key, commitments, message), ({ factors, challenge, indexes }) => {
      const [hiding, binding] = noncesOf(seed, share);
      const own = commitments.find(({ index }) => index === share.index);
      const secret = numberOf(share.secret);
      if (secret === undefined || own?.hiding !== elementOf(hiding) || own.binding !== elementOf(binding))
        return blame([], "the list lacks the commitments of this member");
      const nonce = hiding + binding * (factors.get(share.index) ?? 0n);
      const scalar = scalarOf(nonce + weightOf(indexes, share.index, 0) * secret * challenge);
      return Either.right({ index: share.index, scalar });
    }),
  aggregate: (key, commitments, message, shares) =>
    Either.flatMap(listed(key, commitments, message), (list) => {
      const missing = list.indexes.filter((each) => !shares.some(({ index }) => index === each));
      if (missing.length > 0) return blame(missing, "its share is missing");
      if (shares.length !== list.indexes.length) return blame([], "there are shares of others, or twice of one");
      const wrong = shares.filter((each) => !isShare(key, list, commitments, each));
      if (wrong.length > 0) return blame(indexesOf(wrong), "its share is not of this message and list");
      const sum = shares.reduce((total, { scalar }) => total + (valueOf(scalar) ?? 0n), 0n);
      return Either.right(`${list.commitment}${scalarOf(sum)}`);
    }),
  verify: isSignature,

  repairParts: (seed, { index, secret }, helpers, target) => {
    const isAll = new Set(helpers).size === helpers.length && helpers.includes(index);
    const share = numberOf(secret);
    if (!isAll || helpers.includes(target) || share === undefined)
      throw new RangeError(`${helpers.join(", ")} do not repair the share of ${target}, or ${index} is none of them`);
    const drawn = expanded(seed, "repair", helpers.length - 1);
    const rest = drawn.reduce((left, each) => left - each, weightOf(helpers, index, target) * share);
    return new Map([rest, ...drawn].map((part, at) => [helpers[at] ?? 0, secretOf(part)]));
  },
  repairSum: (parts) => {
    const values = whole(parts.map(numberOf));
    return values && secretOf(values.reduce((sum, each) => sum + each, 0n));
  },
  repairJoin: (sums, { verifyingShares }, target) => {
    const values = whole(sums.map(numberOf));
    const sum = modulo((values ?? []).reduce((total, each) => total + each, 0n));
    return values !== undefined && elementOf(sum) === verifyingShares.get(target)
      ? Either.right({ index: target, secret: secretOf(sum) })
      : blame([], "the sums do not make the share that was lost");
  },
};
