/**
 * The core's crypto port over a handful of byte functions. The preimage of every
 * digest, signature and MAC is `utf8(tag) || 0x00 || deterministic CBOR`
 * (protocol.md 2); which library computes it is the caller's choice, and all
 * peers of a cluster make the same one.
 */
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type Codec, entropy, pair, text } from "../core/codec/Codec.ts";
import { encodeAfter, withEncoding } from "../core/codec/CborWriter.ts";
import { utf8Bytes } from "../core/codec/Utf8.ts";
import type { Crypto, Signer } from "../core/crypto/Crypto.ts";
import type { Digest, PublicKey, SetAccumulator, Signature } from "../core/base/Digest.ts";
import { RecentMap } from "./RecentMap.ts";

export interface CryptoPrimitives {
  /** SHA-256 as 64 lower-case hexadecimal characters; must not keep the bytes, which change after the call. */
  readonly sha256Hex: (bytes: Uint8Array) => string;
  /** HMAC-SHA256 as 64 lower-case hexadecimal characters; must not keep the bytes, which change after the call. */
  readonly hmacSha256Hex: (key: Uint8Array, bytes: Uint8Array) => string;
  /** SHAKE128 with the given number of output bytes (FIPS 202). */
  readonly shake128: (bytes: Uint8Array, length: number) => Uint8Array;
  /**
   * Ed25519 verification under RFC 8032 5.1.7 for a key that passed {@link isEd25519Key}: S < L, canonical
   * torsion-free A and R, R not of small order, and the equation without cofactor.
   */
  readonly verifyEd25519: (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;
  /** Whether 32 bytes are a canonical, torsion-free point that is not of small order. */
  readonly isEd25519Key: (key: Uint8Array) => boolean;
  /** The public key of 32 secret bytes (X25519, RFC 7748 5, 6.1). */
  readonly agreementKey: (secret: Uint8Array) => Uint8Array;
  /** What both secrets come to; undefined for a key of small order, which everybody shares. */
  readonly agree: (secret: Uint8Array, theirs: Uint8Array) => Uint8Array | undefined;
}

const SEPARATOR = Uint8Array.of(0);
/** LtHash16: 1,024 lanes of 16 bits (Bellare and Micciancio's lattice construction). */
const LANES = 1024;
const SET_TAG = "CUSTODY_SET_V1";
const DERIVE_TAG = "CUSTODY_DERIVE_V1";
const derivedFrom = pair(entropy, text(1024));
/** Signatures found valid, remembered so that a statement seen again costs a lookup. */
const REMEMBERED = 8192;
/** Elements recently put into sets, remembered because replacing one takes it out again; each has 2 KB of lanes. */
const REMEMBERED_ELEMENTS = 256;

/** Tags are constants of the program, so there are few. */
const prefixes = new Map<string, Uint8Array>();

const prefixOf = (tag: string): Uint8Array => {
  const known = prefixes.get(tag);
  if (known !== undefined) return known;
  const prefix = concatBytes(utf8ToBytes(tag), SEPARATOR);
  prefixes.set(tag, prefix);
  return prefix;
};

const preimage = <A>(tag: string, codec: Codec<A>, value: A): Uint8Array => encodeAfter(prefixOf(tag), codec, value);

// The brands of the texts below are their lengths, which the primitives promise.
const asHex = <A extends string>(bytes: Uint8Array): A => bytesToHex(bytes) as A;

const laneAt = (lanes: Uint8Array, at: number): number => (lanes[at] ?? 0) | ((lanes[at + 1] ?? 0) << 8);

/** The lanes of a set without those of one element, if one is given, and with those of another. */
const replaceLanes = (set: Uint8Array, removed: Uint8Array | undefined, added: Uint8Array): Uint8Array => {
  const result = new Uint8Array(set.length);
  for (let at = 0; at < set.length; at += 2) {
    const sum = laneAt(set, at) + laneAt(added, at) - (removed === undefined ? 0 : laneAt(removed, at));
    result[at] = sum & 0xff;
    result[at + 1] = (sum >> 8) & 0xff;
  }
  return result;
};

// The brand says that only this file looks inside.
const asSet = (bytes: Uint8Array): SetAccumulator => bytes as SetAccumulator;

/** The crypto port over real primitives. */
export const cryptoOf = (primitives: CryptoPrimitives): Crypto => {
  const { sha256Hex, hmacSha256Hex, shake128, verifyEd25519, isEd25519Key, agreementKey, agree } = primitives;
  const verified = new RecentMap<true>(REMEMBERED);
  const pinnable = new RecentMap<boolean>(REMEMBERED);
  const elements = new RecentMap<Uint8Array>(REMEMBERED_ELEMENTS);
  const lanesOf = (element: Digest): Uint8Array => {
    const known = elements.get(element);
    if (known !== undefined) return known;
    const lanes = shake128(concatBytes(prefixOf(SET_TAG), hexToBytes(element)), LANES * 2);
    elements.set(element, lanes);
    return lanes;
  };
  const isPublicKey = (key: PublicKey): boolean => {
    const known = pinnable.get(key);
    if (known !== undefined) return known;
    // A bad one too: to find that out is the dearest, and anybody may show one again and again.
    const valid = isEd25519Key(hexToBytes(key));
    pinnable.set(key, valid);
    return valid;
  };
  return {
    sha256: (bytes) => sha256Hex(bytes) as Digest,
    sha256OfText: (text) => sha256Hex(utf8Bytes(text)) as Digest,
    digest: (tag, codec, value) => withEncoding(prefixOf(tag), codec, value, sha256Hex) as Digest,
    verify: (key, tag, codec, value, signature) => {
      const message = preimage(tag, codec, value);
      const name = `${key}${signature}${sha256Hex(message)}`;
      if (verified.get(name) === true) return true;
      const valid = isPublicKey(key) && verifyEd25519(hexToBytes(key), message, hexToBytes(signature));
      if (valid) verified.set(name, true);
      return valid;
    },
    isPublicKey,
    mac: (secret, tag, codec, value) =>
      withEncoding(prefixOf(tag), codec, value, (bytes) => hmacSha256Hex(secret, bytes)) as Digest,
    agreementKey: (secret) => asHex(agreementKey(hexToBytes(secret))),
    agree: (secret, theirs) => agree(hexToBytes(secret), hexToBytes(theirs)),
    derive: (seed, label) => hexToBytes(withEncoding(prefixOf(DERIVE_TAG), derivedFrom, [seed, label], sha256Hex)),
    emptySet: asSet(new Uint8Array(LANES * 2)),
    replaceInSet: (set, removed, added) =>
      asSet(replaceLanes(set, removed === undefined ? undefined : lanesOf(removed), lanesOf(added))),
    setDigest: (set) => sha256Hex(set) as Digest,
  };
};

/** A signer over a primitive that holds the private key. */
export const signerOf = (publicKey: PublicKey, signEd25519: (message: Uint8Array) => Uint8Array): Signer => ({
  publicKey,
  sign: (tag, codec, value) => asHex<Signature>(signEd25519(preimage(tag, codec, value))),
});
