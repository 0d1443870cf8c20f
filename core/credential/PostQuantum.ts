/**
 * Public keys of ML-DSA (FIPS 204) and SLH-DSA (FIPS 205).
 *
 * Every string of the right length is a public key: in ML-DSA the coefficients of
 * t1 fill their ten bits exactly (FIPS 204 algorithm 23, pkDecode), so that none is
 * out of range; in SLH-DSA the key is a seed and a hash (FIPS 205 section 9.1). The
 * length check is all that FIPS 204 section 3.6.2 and FIPS 205 section 3.1 ask for.
 */
import { Either } from "effect";
import { bareKey, type KeyEncoding } from "./SubjectPublicKeyInfo.ts";

/** The raw key of the standard, from that key or its SubjectPublicKeyInfo. */
export const rawKey =
  (encoding: KeyEncoding) =>
  (encoded: Uint8Array): Either.Either<Uint8Array, string> =>
    // A copy: the caller's bytes may change after they were checked.
    Either.map(bareKey(encoding, encoded), (key) => key.slice());
