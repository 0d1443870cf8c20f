/**
 * The port through which a ceremony computes digests and checks signatures. The
 * DER form of signatures, and the allowed keys, are decided in the core; so two
 * implementations can only differ in arithmetic.
 */

/** FIPS 180-4. SHA-1 only where a TPM's own format names it. */
export type HashName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";

export type CurveName = "P-256" | "P-384" | "P-521";

/** A public key of a certificate or a credential. */
export type VerificationKey =
  | {
      readonly kind: "EC";
      readonly curve: CurveName;
      /** Uncompressed SEC 1 point (04 x y), on the curve. */
      readonly point: Uint8Array;
    }
  | {
      readonly kind: "RSA";
      /** Both big-endian without leading zero octets; 2048 to 8192 bits, and an odd exponent from 3 to 2^32. */
      readonly modulus: Uint8Array;
      readonly exponent: Uint8Array;
    };

/** Pure functions, synchronous, hold no secret. */
export interface CeremonyCrypto {
  readonly hash: (name: HashName, bytes: Uint8Array) => Uint8Array;
  /**
   * ECDSA (FIPS 186-5) or RSASSA-PKCS1-v1_5 (RFC 8017), as the key is. Both halves of S are valid.
   *
   * @param signature `r || s`, each as long as the field, for EC; as long as the modulus for RSA
   * @returns false for anything but a valid signature; never throws
   */
  readonly verify: (key: VerificationKey, hash: HashName, message: Uint8Array, signature: Uint8Array) => boolean;
}
