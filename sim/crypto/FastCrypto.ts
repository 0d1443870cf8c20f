/**
 * Stand-ins for hashes and signatures in bulk runs: a quick structural hash in place of SHA-256 over CBOR, and
 * signatures keyed by a secret that only this file's closures hold. Inside the simulation a signature can be made only
 * with the signer of its key; outside they protect nothing.
 */
import { hexToBytes } from "@noble/hashes/utils.js";
import type { Codec } from "../../core/codec/Codec.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import type { Digest, PublicKey, SetAccumulator, Signature } from "../../core/base/Digest.ts";
import { hexOfWord, Mixer } from "../base/Mixer.ts";
import type { Prng } from "../base/Prng.ts";
import { simAgreement } from "./SimAgreement.ts";

/** Values digested again and again by everyone who sees them; they are immutable, so their digest is kept. */
const rememberedTags: ReadonlySet<string> = new Set([
  "CUSTODY_PROPOSAL_V1",
  "CUSTODY_STMT_BATCH_V1",
  "CUSTODY_STMT_LEAF_V1",
  "CUSTODY_TOPOLOGY_V1",
  "CUSTODY_REQUEST_V1",
  "CUSTODY_AUDIT_V1",
]);

interface Remembered {
  readonly tag: string;
  readonly digest: Digest;
  /** The last valid signature over it, and its signer. */
  key: PublicKey | undefined;
  signature: Signature | undefined;
}

const tagWords = new Map<string, number>();
const tagWord = (tag: string): number => {
  const known = tagWords.get(tag);
  if (known !== undefined) return known;
  const mixer = new Mixer().reset(0);
  mixer.text(tag);
  tagWords.set(tag, mixer.first);
  return mixer.first;
};

// Shorter than the brands say: nothing in a bulk run but refs looks at the length of a digest, and 64 bits
// repeated four or eight times would only have to be made, compared and hashed at that length.
const asDigest = (hash: string): Digest => hash as Digest;
const asSignature = (hash: string): Signature => hash as Signature;
const asSet = (bytes: Uint8Array): SetAccumulator => bytes as SetAccumulator;

const wordAt = (set: Uint8Array, at: number): number =>
  ((set[at] ?? 0) << 24) | ((set[at + 1] ?? 0) << 16) | ((set[at + 2] ?? 0) << 8) | (set[at + 3] ?? 0);

const putWord = (bytes: Uint8Array, at: number, word: number): void => {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
};

// No DataView: it would give every small array a buffer of its own outside the heap.
const addWords = (set: Uint8Array, first: number, second: number, sign: 1 | -1): Uint8Array => {
  const sum = new Uint8Array(8);
  putWord(sum, 0, wordAt(set, 0) + sign * first);
  putWord(sum, 4, wordAt(set, 4) + sign * second);
  return sum;
};

export interface FastCrypto {
  readonly crypto: Crypto;
  /** A new key pair. */
  readonly newSigner: () => Signer;
}

/** Fresh stand-ins for one world; `entropy` makes the keys. */
export const fastCrypto = (entropy: Prng): FastCrypto => {
  const secrets = new Map<PublicKey, number>();
  const known = new WeakMap<object, Remembered>();
  const mixer = new Mixer();

  const hash = <A>(tag: string, codec: Codec<A>, value: A): Digest => {
    mixer.reset(tagWord(tag));
    codec.write(value, mixer);
    return asDigest(mixer.hash);
  };

  const remember = <A>(tag: string, codec: Codec<A>, value: A): Remembered | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    const remembered = known.get(value);
    if (remembered !== undefined && remembered.tag === tag) return remembered;
    if (!rememberedTags.has(tag)) return undefined;
    const fresh: Remembered = { tag, digest: hash(tag, codec, value), key: undefined, signature: undefined };
    known.set(value, fresh);
    return fresh;
  };

  const digest = <A>(tag: string, codec: Codec<A>, value: A): Digest =>
    remember(tag, codec, value)?.digest ?? hash(tag, codec, value);

  const signatureOf = (secret: number, preimage: Digest): Signature => {
    mixer.reset(secret);
    mixer.hex(preimage);
    return asSignature(mixer.hash);
  };

  /** The set with an element added, or taken out. */
  const withElement = (set: Uint8Array, element: Digest, sign: 1 | -1): Uint8Array => {
    mixer.reset(11);
    mixer.hex(element);
    return addWords(set, mixer.first, mixer.second, sign);
  };

  const crypto: Crypto = {
    sha256: (bytes) => {
      mixer.reset(7);
      mixer.bytes(bytes);
      // At full length: a ref ends in it, and is told from other text by its length.
      return asDigest(mixer.hash.repeat(4));
    },
    sha256OfText: (text) => {
      mixer.reset(7);
      mixer.utf8(text);
      return asDigest(mixer.hash.repeat(4));
    },
    digest,
    verify: (key, tag, codec, value, signature) => {
      const secret = secrets.get(key);
      if (secret === undefined) return false;
      const remembered = remember(tag, codec, value);
      if (remembered === undefined) return signatureOf(secret, hash(tag, codec, value)) === signature;
      if (remembered.key === key && remembered.signature === signature) return true;
      if (signatureOf(secret, remembered.digest) !== signature) return false;
      remembered.key = key;
      remembered.signature = signature;
      return true;
    },
    isPublicKey: (key) => secrets.has(key),
    mac: (secret, tag, codec, value) => {
      const preimage = digest(tag, codec, value);
      mixer.reset(13);
      mixer.bytes(secret);
      mixer.hex(preimage);
      return asDigest(mixer.hash);
    },
    ...simAgreement(),
    derive: (seed, label) => {
      mixer.reset(19);
      mixer.hex(seed);
      mixer.text(label);
      // At full length, which is looked at where it ends up.
      return hexToBytes(mixer.hash.repeat(4));
    },
    emptySet: asSet(new Uint8Array(8)),
    replaceInSet: (set, removed, added) => {
      const rest = removed === undefined ? set : withElement(set, removed, -1);
      return asSet(withElement(rest, added, 1));
    },
    setDigest: (set) => {
      mixer.reset(17);
      mixer.bytes(set);
      return asDigest(mixer.hash);
    },
  };

  const newSigner = (): Signer => {
    const secret = entropy.below(0x7fffffff);
    mixer.reset(secret);
    const publicKey = (hexOfWord(mixer.first) + hexOfWord(entropy.below(0x7fffffff))).repeat(4) as PublicKey;
    secrets.set(publicKey, secret);
    return { publicKey, sign: (tag, codec, value) => signatureOf(secret, digest(tag, codec, value)) };
  };

  return { crypto, newSigner };
};
