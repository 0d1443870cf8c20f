/** The signature algorithms a SIGNATURE credential may name (contract 2.2), behind one interface. */
import type { Either } from "effect";
import { normalizeEd25519, normalizeEd448 } from "./Edwards.ts";
import { rawKey } from "./PostQuantum.ts";
import { keyEncodings } from "./SubjectPublicKeyInfo.ts";
import { normalizeP256, normalizeP384, normalizeP521, normalizeSecp256k1 } from "./Weierstrass.ts";

/** One installed algorithm. */
export interface SignatureProvider {
  /** The canonical name; matching is case-sensitive. */
  readonly algorithm: string;
  /**
   * Checks a public key and gives its one normal form.
   *
   * @param encoded any usual encoding: the raw key or SEC 1 point, or a DER SubjectPublicKeyInfo
   * @returns a fresh array with the compressed SEC 1 point, the RFC 8032 encoding or
   *   the raw FIPS key; or one sentence why the key is refused, which quotes none of it
   */
  readonly normalize: (encoded: Uint8Array) => Either.Either<Uint8Array, string>;
}

const normalizers: { readonly [A in keyof typeof keyEncodings]: SignatureProvider["normalize"] } = {
  ED25519: normalizeEd25519,
  ED448: normalizeEd448,
  SECP256K1: normalizeSecp256k1,
  P256: normalizeP256,
  P384: normalizeP384,
  P521: normalizeP521,
  MLDSA44: rawKey(keyEncodings.MLDSA44),
  MLDSA65: rawKey(keyEncodings.MLDSA65),
  MLDSA87: rawKey(keyEncodings.MLDSA87),
  SLHDSA_SHA2_128S: rawKey(keyEncodings.SLHDSA_SHA2_128S),
  SLHDSA_SHA2_128F: rawKey(keyEncodings.SLHDSA_SHA2_128F),
  SLHDSA_SHA2_192S: rawKey(keyEncodings.SLHDSA_SHA2_192S),
  SLHDSA_SHA2_192F: rawKey(keyEncodings.SLHDSA_SHA2_192F),
  SLHDSA_SHA2_256S: rawKey(keyEncodings.SLHDSA_SHA2_256S),
  SLHDSA_SHA2_256F: rawKey(keyEncodings.SLHDSA_SHA2_256F),
  SLHDSA_SHAKE_128S: rawKey(keyEncodings.SLHDSA_SHAKE_128S),
  SLHDSA_SHAKE_128F: rawKey(keyEncodings.SLHDSA_SHAKE_128F),
  SLHDSA_SHAKE_192S: rawKey(keyEncodings.SLHDSA_SHAKE_192S),
  SLHDSA_SHAKE_192F: rawKey(keyEncodings.SLHDSA_SHAKE_192F),
  SLHDSA_SHAKE_256S: rawKey(keyEncodings.SLHDSA_SHAKE_256S),
  SLHDSA_SHAKE_256F: rawKey(keyEncodings.SLHDSA_SHAKE_256F),
};

/** Every installed algorithm by its canonical name. */
export const installedProviders: ReadonlyMap<string, SignatureProvider> = new Map(
  Object.entries(normalizers).map(([algorithm, normalize]) => [algorithm, { algorithm, normalize }]),
);
