/** Byte strings of fixed length, branded so that one is never taken for another. */

/** A SHA-256 digest as 64 lower-case hexadecimal characters. */
export type Digest = string & { readonly Digest: unique symbol };
/**
 * 32 fresh random bytes of one step, as 64 lower-case hexadecimal characters. Secrets are derived from them, so they are
 * no {@link Digest}, which a message or a row may hold.
 */
export type Entropy = string & { readonly Entropy: unique symbol };
/** An Ed25519 public key as 64 lower-case hexadecimal characters. */
export type PublicKey = string & { readonly PublicKey: unique symbol };
/** An Ed25519 signature as 128 lower-case hexadecimal characters. */
export type Signature = string & { readonly Signature: unique symbol };
/** A digest over a multiset of elements, opaque to everyone but {@link Crypto}. */
export type SetAccumulator = Uint8Array & { readonly SetAccumulator: unique symbol };
