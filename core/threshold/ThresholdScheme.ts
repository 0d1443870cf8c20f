/**
 * The port through which peers make keys together and sign with them: FROST (RFC 9591) over some group, with the
 * distributed key generation of its authors (PedPoP), refresh, and repair of a lost share.
 *
 * A scheme has no state and no randomness of its own. Whatever a member draws is expanded from a seed of 32 bytes, so
 * that it is made again instead of kept; a seed serves one session of one member, and a nonce's seed one message.
 */
import type { Either } from "effect";
import type { Secret } from "./Secret.ts";

/** Where a member's share lies on the polynomial: its share index in the topology, from 1. */
export type ShareIndex = number;

/** An element of the group other than its identity, in its one encoding, as lower-case hexadecimal characters. */
export type Element = string & { readonly Element: unique symbol };
/** A scalar that everybody may see, in its one encoding, as lower-case hexadecimal characters. */
export type Scalar = string & { readonly Scalar: unique symbol };

/** Who holds shares, and how many of them sign: 2 <= threshold <= number of indexes. */
export interface Parties {
  readonly threshold: number;
  readonly indexes: ReadonlyArray<ShareIndex>;
}

/** What everybody knows of a key. */
export interface GroupKey {
  readonly threshold: number;
  /** To the coefficients of the polynomial, the constant one first: as many as sign. */
  readonly commitments: ReadonlyArray<Element>;
  /** By index: the generator times the share. */
  readonly verifyingShares: ReadonlyMap<ShareIndex, Element>;
}

/** What one member holds of a key. */
export interface Share {
  readonly index: ShareIndex;
  readonly secret: Secret;
}

export interface KeyAndShare {
  readonly key: GroupKey;
  readonly share: Share;
}

/** A member's part of a key that is being made. */
export interface KeygenPackage {
  readonly index: ShareIndex;
  readonly commitments: ReadonlyArray<Element>;
  /** That it knows its constant coefficient: a Schnorr signature, as hexadecimal characters. */
  readonly proof: string;
}

/** A member's part of a refresh: its polynomial has no constant term, so there is no commitment to one. */
export interface RefreshPackage {
  readonly index: ShareIndex;
  readonly commitments: ReadonlyArray<Element>;
}

/** A member's part of the dealing of a whole key: what it is to a refresh, and of the dealer that of a whole polynomial. */
export type DealPackage = RefreshPackage;

/** A key that is whole at one of the parties, the dealer. */
export interface WholeKey {
  readonly dealer: ShareIndex;
  /** As verifiers know it. */
  readonly publicKey: string;
  /** At the dealer: the scalar. */
  readonly secret: Secret | undefined;
}

/** To the two nonces of one member for one signature (RFC 9591 5.1). */
export interface NonceCommitments {
  readonly index: ShareIndex;
  readonly hiding: Element;
  readonly binding: Element;
}

/** A member's part of a signature (RFC 9591 5.2). */
export interface SignatureShare {
  readonly index: ShareIndex;
  readonly scalar: Scalar;
}

/** What did not hold, and of whom it came; of nobody in particular where what came together does not fit. */
export interface Blame {
  readonly indexes: ReadonlyArray<ShareIndex>;
  readonly why: string;
}

/** Secrets for the other members, each for one of them alone. */
export type SecretsFor = ReadonlyMap<ShareIndex, Secret>;

export interface ThresholdScheme {
  /** The public key that verifiers know, as hexadecimal characters: of Ed25519 32 bytes, of BIP 340 an x coordinate. */
  readonly publicKey: (key: GroupKey) => string;

  /** Round one of a key generation: what a member tells all others. */
  readonly keygenPackage: (seed: Secret, me: ShareIndex, parties: Parties) => KeygenPackage;
  /** Round two: what it tells each of them alone, once it has the packages of all others; blames whose proof is none. */
  readonly keygenShares: (
    seed: Secret,
    me: ShareIndex,
    parties: Parties,
    others: ReadonlyArray<KeygenPackage>,
  ) => Either.Either<SecretsFor, Blame>;
  /** The key and this member's share; blames who sent a share that does not lie on its polynomial. */
  readonly keygenFinish: (
    seed: Secret,
    me: ShareIndex,
    parties: Parties,
    others: ReadonlyArray<KeygenPackage>,
    received: SecretsFor,
  ) => Either.Either<KeyAndShare, Blame>;

  /** The same three for new shares of the same key, of the same members and threshold. */
  readonly refreshPackage: (seed: Secret, me: ShareIndex, parties: Parties) => RefreshPackage;
  readonly refreshShares: (seed: Secret, me: ShareIndex, parties: Parties) => SecretsFor;
  readonly refreshFinish: (
    seed: Secret,
    old: KeyAndShare,
    others: ReadonlyArray<RefreshPackage>,
    received: SecretsFor,
  ) => Either.Either<KeyAndShare, Blame>;

  /**
   * The same three for the first shares of a key that is whole at one member (RFC 9591 appendix C). All others add to
   * the dealer's polynomial as to a refresh, so that where more than two sign it knows no share but its own. Blames a
   * dealer of another key.
   */
  readonly dealPackage: (seed: Secret, whole: WholeKey, me: ShareIndex, parties: Parties) => DealPackage;
  readonly dealShares: (seed: Secret, whole: WholeKey, me: ShareIndex, parties: Parties) => SecretsFor;
  readonly dealFinish: (
    seed: Secret,
    whole: WholeKey,
    me: ShareIndex,
    parties: Parties,
    others: ReadonlyArray<DealPackage>,
    received: SecretsFor,
  ) => Either.Either<KeyAndShare, Blame>;

  /** Round one of a signature (RFC 9591 5.1): commitments to the nonces that this seed and share give. */
  readonly commit: (seed: Secret, share: Share) => NonceCommitments;
  /**
   * Round two (RFC 9591 5.2). Whoever calls this has made sure that the seed has signed nothing else and never will;
   * refuses a list that is not of members, too short, or without this member's own commitments.
   */
  readonly sign: (
    seed: Secret,
    held: KeyAndShare,
    commitments: ReadonlyArray<NonceCommitments>,
    message: Uint8Array,
  ) => Either.Either<SignatureShare, Blame>;
  /** The signature, as hexadecimal characters, verified (RFC 9591 5.3); blames whose share is wrong (5.4). */
  readonly aggregate: (
    key: GroupKey,
    commitments: ReadonlyArray<NonceCommitments>,
    message: Uint8Array,
    shares: ReadonlyArray<SignatureShare>,
  ) => Either.Either<string, Blame>;
  /** Whether a signature is one of this public key, as any verifier would say; never throws. */
  readonly verify: (publicKey: string, message: Uint8Array, signature: string) => boolean;

  /**
   * Repair of a lost share by as many helpers as sign (Stinson and Wei): what a helper tells each helper, itself
   * included. Another attempt needs another seed.
   */
  readonly repairParts: (
    seed: Secret,
    share: Share,
    helpers: ReadonlyArray<ShareIndex>,
    target: ShareIndex,
  ) => SecretsFor;
  /**
   * What a helper tells the target: the sum of what all helpers told it; undefined where one of them is no scalar, as
   * a helper that lies may send. Never throws.
   */
  readonly repairSum: (parts: ReadonlyArray<Secret>) => Secret | undefined;
  /** The target's share; refused where it is not the one that it lost. Then nobody knows who was wrong. */
  readonly repairJoin: (sums: ReadonlyArray<Secret>, key: GroupKey, target: ShareIndex) => Either.Either<Share, Blame>;
}
