/**
 * The port through which the core computes digests and checks signatures.
 *
 * The real implementation encodes the value as deterministic CBOR and uses
 * SHA-256 and Ed25519; the simulator's bulk runs replace both by fast stand-ins
 * that nobody inside the simulation can forge. Nothing here is asynchronous.
 */
import type { Codec } from "../codec/Codec.ts";
import type { Digest, Entropy, PublicKey, SetAccumulator, Signature } from "../base/Digest.ts";

/** Pure functions over bytes and values; holds no secret. */
export interface Crypto {
  /** SHA-256 of raw bytes. */
  readonly sha256: (bytes: Uint8Array) => Digest;
  /** SHA-256 of the UTF-8 form of a text. */
  readonly sha256OfText: (text: string) => Digest;
  /** `SHA-256(utf8(tag) || 0x00 || encoding of value)`: protocol.md, "Domain separation". */
  readonly digest: <A>(tag: string, codec: Codec<A>, value: A) => Digest;
  /** Strict Ed25519 over the same preimage; false for anything but a valid signature, never throws. */
  readonly verify: <A>(key: PublicKey, tag: string, codec: Codec<A>, value: A, signature: Signature) => boolean;
  /** Whether a key may be pinned: canonical, torsion-free, not of small order (RFC 8032 5.1.3). */
  readonly isPublicKey: (key: PublicKey) => boolean;
  /** HMAC-SHA256 over the same preimage, 64 hexadecimal characters. */
  readonly mac: <A>(secret: Uint8Array, tag: string, codec: Codec<A>, value: A) => Digest;
  /** The public half of a key for one agreement, from 32 fresh random bytes (X25519, RFC 7748). */
  readonly agreementKey: (secret: Entropy) => Digest;
  /** What only the holders of either secret know; undefined where the other half is none that could give it. */
  readonly agree: (secret: Entropy, theirs: Digest) => Uint8Array | undefined;
  /** 32 bytes that only a holder of the seed can tell from random ones; another label gives other bytes. */
  readonly derive: (seed: Entropy, label: string) => Uint8Array;
  /** The digest of the empty multiset. */
  readonly emptySet: SetAccumulator;
  /** The accumulator with one element removed (if given) and one added: constant time in the size of the set. */
  readonly replaceInSet: (set: SetAccumulator, removed: Digest | undefined, added: Digest) => SetAccumulator;
  /** A fixed-size digest of an accumulator. */
  readonly setDigest: (set: SetAccumulator) => Digest;
}

/** The identity key of this peer, in memory only while it is unsealed. */
export interface Signer {
  readonly publicKey: PublicKey;
  readonly sign: <A>(tag: string, codec: Codec<A>, value: A) => Signature;
}
