/** What keys can be made of: one algorithm with one scheme of signatures, and everything that signs or hides for them. */
import type { Secret } from "./Secret.ts";
import type { SoloScheme } from "./SoloScheme.ts";
import type { Element, ThresholdScheme } from "./ThresholdScheme.ts";
import type { Digest } from "../base/Digest.ts";

export interface Suite {
  /** The name under which the same key would be an approver's (contract 2.2). */
  readonly algorithm: string;
  readonly scheme: string;
  /** Undefined where no kept library signs with shares of such a key (docs/decisions/0041-threshold-schemes.md). */
  readonly shared: ThresholdScheme | undefined;
  readonly solo: SoloScheme;
  /** The only length of message that is signed; undefined where any is. */
  readonly messageBytes: number | undefined;
  /** Whether a signature is one of this public key, both as hexadecimal characters; never throws. */
  readonly verify: (publicKey: string, message: Uint8Array, signature: string) => boolean;
  /** The public key as a DER SubjectPublicKeyInfo (RFC 8410, RFC 5480); undefined where none is registered for it. */
  readonly spki: (publicKey: string) => Uint8Array | undefined;
}

/** A key for one agreement, as hexadecimal characters (X25519, RFC 7748). */
export type BoxKey = string & { readonly BoxKey: unique symbol };

/** Secrets on their way to one other member, under keys that live no longer than a session. */
export interface Boxes {
  /** The public half of what a seed of 32 bytes gives. */
  readonly keyOf: (seed: Secret) => BoxKey;
  /**
   * Encrypts for the holder of the other half alone. `place` says what it is, in which session, from whom to whom: a
   * pair of keys and a place serve one secret only, and a box opens at no other place.
   */
  readonly seal: (seed: Secret, theirs: BoxKey, place: string, secret: Secret) => Uint8Array;
  /** Undefined where it is none of these keys and this place. */
  readonly open: (seed: Secret, theirs: BoxKey, place: string, box: Uint8Array) => Secret | undefined;
}

/** Everything that keys are made and used with; the same on every peer. */
export interface KeyCrypto {
  readonly suites: ReadonlyArray<Suite>;
  readonly boxes: Boxes;
}

/** Whose share it is and of what: it opens nowhere else. */
export interface SharePlace {
  readonly clusterId: Digest;
  readonly peerId: number;
  readonly keyId: string;
  readonly generation: number;
  /** What all members have agreed on while it was made. */
  readonly transcript: Digest;
  /** The generator times the share; of a key that is not shared, the public key. */
  readonly verifyingShare: Element | string;
}

/** This peer's shares at rest, encrypted under a key that only the unsealed peer has. */
export interface ShareVault {
  /** `entropy` is 32 random bytes that serve nothing else. */
  readonly seal: (place: SharePlace, secret: Secret, entropy: Secret) => Uint8Array;
  /** Undefined where it is none of this place. */
  readonly open: (place: SharePlace, box: Uint8Array) => Secret | undefined;
}

export const suiteOf = ({ suites }: KeyCrypto, algorithm: string, scheme: string): Suite | undefined =>
  suites.find((suite) => suite.algorithm === algorithm && suite.scheme === scheme);

/** The scheme of an algorithm whose caller names none. */
export const usualSuite = ({ suites }: KeyCrypto, algorithm: string): Suite | undefined =>
  suites.find((suite) => suite.algorithm === algorithm);
