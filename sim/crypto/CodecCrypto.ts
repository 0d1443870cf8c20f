/**
 * The crypto of the middle tier: digests and registry roots as on a real peer, over the same bytes. Signatures and MACs
 * are a quick hash of those bytes, keyed by a secret that only this file's closures hold. Inside the simulation a
 * signature can be made only with the signer of its key; outside they protect nothing.
 */
import { withEncoding } from "../../core/codec/CborWriter.ts";
import type { Codec } from "../../core/codec/Codec.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import type { Digest, PublicKey, Signature } from "../../core/base/Digest.ts";
import { type CryptoPrimitives, cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { Mixer } from "../base/Mixer.ts";
import type { Prng } from "../base/Prng.ts";
import { simAgreement } from "./SimAgreement.ts";

const NO_PREFIX = new Uint8Array(0);

export interface CodecCrypto {
  readonly crypto: Crypto;
  /** A new key pair. */
  readonly newSigner: () => Signer;
}

/** Fresh stand-ins for one world; `entropy` makes the keys, `primitives` the digests. */
export const codecCrypto = (entropy: Prng, primitives: CryptoPrimitives): CodecCrypto => {
  const secrets = new Map<PublicKey, number>();
  const mixer = new Mixer();

  /** 16 hexadecimal characters over the preimage that a real key would sign. */
  const keyed = <A>(mix: () => void, tag: string, codec: Codec<A>, value: A): string =>
    withEncoding(NO_PREFIX, codec, value, (encoded) => {
      mix();
      mixer.text(tag);
      mixer.bytes(encoded);
      return mixer.hash;
    });

  // The brands are lengths: 64 characters of a MAC, 128 of a signature.
  const signatureOf = <A>(secret: number, tag: string, codec: Codec<A>, value: A): Signature =>
    keyed(() => mixer.reset(secret), tag, codec, value).repeat(8) as Signature;

  const crypto: Crypto = {
    ...cryptoOf(primitives),
    ...simAgreement(),
    verify: (key, tag, codec, value, signature) => {
      const secret = secrets.get(key);
      return secret !== undefined && signatureOf(secret, tag, codec, value) === signature;
    },
    isPublicKey: (key) => secrets.has(key),
    mac: (secret, tag, codec, value) =>
      keyed(() => mixer.reset(13).bytes(secret), tag, codec, value).repeat(4) as Digest,
  };

  const newSigner = (): Signer => {
    const publicKey: string = entropy.digest();
    const secret = entropy.below(0x7fffffff);
    secrets.set(publicKey as PublicKey, secret);
    return {
      publicKey: publicKey as PublicKey,
      sign: (tag, codec, value) => signatureOf(secret, tag, codec, value),
    };
  };

  return { crypto, newSigner };
};
