/**
 * The port through which a peer that is alone makes a key and signs with it. No state and no randomness of its own, as
 * {@link ThresholdScheme}.
 */
import type { Secret } from "./Secret.ts";

export interface SoloScheme {
  /** The key that 32 random bytes give; the public half as hexadecimal characters, in the algorithm's normal form. */
  readonly keyOf: (seed: Secret) => { readonly publicKey: string; readonly secret: Secret };
  /** A private key as the scalar that members share (RFC 9591 appendix C); undefined where no kept library shares it. */
  readonly scalarOf: ((secret: Secret) => Secret) | undefined;
  /** The signature, as hexadecimal characters; `entropy` is 32 random bytes that serve nothing else. */
  readonly sign: (secret: Secret, message: Uint8Array, entropy: Secret) => string;
}
