/** Signing in two rounds (RFC 9591 5), by the library: this file gives it a seed and refuses what is not of members. */
import type {
  FrostPublic,
  FrostSecret,
  NonceCommitments as Commitments,
  GenNonce,
} from "@noble/curves/abstract/frost.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Secret } from "../../core/threshold/Secret.ts";
import type {
  Element,
  GroupKey,
  KeyAndShare,
  NonceCommitments,
  Scalar,
  Share,
  ShareIndex,
  ThresholdScheme,
} from "../../core/threshold/ThresholdScheme.ts";
import {
  attempt,
  bytesOfScalar,
  expansion,
  failing,
  type Group,
  Misfit,
  nameOf,
  type Point,
  pointOf,
} from "./Group.ts";

const publicOf = <P extends Point<P>>(
  group: Group<P>,
  { threshold, commitments, verifyingShares }: GroupKey,
): FrostPublic => ({
  signers: { min: threshold, max: verifyingShares.size },
  commitments: commitments.map((each) => hexToBytes(each)),
  verifyingShares: Object.fromEntries(
    [...verifyingShares].map(([index, element]) => [nameOf(group, index), hexToBytes(element)]),
  ),
});

const secretShareOf = <P extends Point<P>>(group: Group<P>, { index, secret }: Share): FrostSecret => ({
  identifier: nameOf(group, index),
  signingShare: secret.expose(),
});

/** The nonces of a seed, made again for each round. */
const noncesOf = <P extends Point<P>>(group: Group<P>, seed: Secret, share: Share): GenNonce =>
  group.signing.commit(secretShareOf(group, share), expansion(seed, "nonce"));

const listOf = <P extends Point<P>>(
  group: Group<P>,
  { threshold, verifyingShares }: GroupKey,
  commitments: ReadonlyArray<NonceCommitments>,
): Array<Commitments> => {
  const strangers = commitments.map(({ index }) => index).filter((each) => !verifyingShares.has(each));
  if (strangers.length > 0) throw new Misfit(strangers, "it holds no share of the key");
  if (new Set(commitments.map(({ index }) => index)).size !== commitments.length)
    throw new Misfit([], "a member is there twice");
  if (commitments.length < threshold) throw new Misfit([], `fewer than ${threshold} sign`);
  const wrong = failing(commitments, ({ hiding, binding }) => [pointOf(group, hiding), pointOf(group, binding)]);
  if (wrong.length > 0) throw new Misfit(wrong, "the commitments are no elements of the group");
  return commitments.map(({ index, hiding, binding }) => ({
    identifier: nameOf(group, index),
    hiding: hexToBytes(hiding),
    binding: hexToBytes(binding),
  }));
};

const assertSame = (left: ReadonlyArray<ShareIndex>, right: ReadonlyArray<ShareIndex>): void => {
  const missing = left.filter((each) => !right.includes(each));
  if (missing.length > 0) throw new Misfit(missing, "its share is missing");
  if (left.length !== right.length) throw new Misfit([], "there are shares of others, or twice of one");
};

/** What signs in place of the key and the shares that are kept. */
export interface Adjustment {
  readonly key: (key: GroupKey) => GroupKey;
  readonly held: (held: KeyAndShare) => KeyAndShare;
}

const none: Adjustment = { key: (key) => key, held: (held) => held };

export const signing = <P extends Point<P>>(
  group: Group<P>,
  adjustment = none,
): Pick<ThresholdScheme, "commit" | "sign" | "aggregate"> => ({
  commit: (seed, share) => {
    const { nonces, commitments } = noncesOf(group, seed, share);
    nonces.hiding.fill(0);
    nonces.binding.fill(0);
    const { hiding, binding } = commitments;
    return { index: share.index, hiding: bytesToHex(hiding) as Element, binding: bytesToHex(binding) as Element };
  },
  sign: (seed, held, commitments, message) =>
    attempt(() => {
      const { index } = held.share;
      const list = listOf(group, held.key, commitments);
      // Of the share that is kept, as when they were committed to.
      const { nonces } = noncesOf(group, seed, held.share);
      const { key, share } = adjustment.held(held);
      try {
        const own = secretShareOf(group, share);
        const scalar = group.signing.signShare(own, publicOf(group, key), nonces, list, message);
        return { index, scalar: bytesToHex(scalar) as Scalar };
      } finally {
        nonces.hiding.fill(0);
        nonces.binding.fill(0);
        if (share !== held.share) share.secret.wipe();
      }
    }, "the list lacks the commitments of this member"),
  aggregate: (key, commitments, message, shares) =>
    attempt(() => {
      const list = listOf(group, key, commitments);
      assertSame(
        commitments.map(({ index }) => index),
        shares.map(({ index }) => index),
      );
      const unread = failing(shares, ({ scalar }) => bytesOfScalar(group, scalar));
      if (unread.length > 0) throw new Misfit(unread, "its share is no scalar");
      const known = publicOf(group, adjustment.key(key));
      const parts = shares.map(({ index, scalar }) => [nameOf(group, index), hexToBytes(scalar)] as const);
      try {
        return bytesToHex(group.signing.aggregate(known, list, message, Object.fromEntries(parts)));
      } catch {
        const wrong = failing(shares, ({ index, scalar }) =>
          group.signing.verifyShare(known, list, message, nameOf(group, index), hexToBytes(scalar)),
        );
        throw new Misfit(wrong, "its share is not of this message, these commitments and its part of the key");
      }
    }, "commitments and shares do not fit together"),
});
