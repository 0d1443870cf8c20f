/**
 * Public keys on Edwards curves: RFC 8032 encodings, 32 bytes for Ed25519 and 57 for Ed448.
 *
 * Stricter than RFC 8032 and than most libraries, whose default is ZIP 215: a key
 * of small order verifies signatures nobody made, and one outside the prime-order
 * subgroup makes cofactored and cofactorless verifiers disagree. A key has exactly
 * one encoding here, so its normal form is that encoding.
 */
import type { EdwardsPoint, EdwardsPointCons } from "@noble/curves/abstract/edwards.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { ed448 } from "@noble/curves/ed448.js";
import { Either } from "effect";
import { bareKey, keyEncodings, type KeyEncoding } from "./SubjectPublicKeyInfo.ts";

const encodedPoint =
  (curve: EdwardsPointCons, encoding: KeyEncoding) =>
  (encoded: Uint8Array): Either.Either<Uint8Array, string> =>
    Either.gen(function* () {
      const key = yield* bareKey(encoding, encoded);
      const point = yield* decoded(curve, encoding, key);
      if (point.isSmallOrder()) return yield* Either.left("The point is of small order.");
      if (!point.isTorsionFree()) return yield* Either.left("The point is outside the subgroup of prime order.");
      // A copy: the caller's bytes may change after they were checked.
      return key.slice();
    });

/** RFC 8032 sections 5.1.3 and 5.2.3: y below the prime, on the curve, and no negative zero for x. */
const decoded = (
  curve: EdwardsPointCons,
  encoding: KeyEncoding,
  key: Uint8Array,
): Either.Either<EdwardsPoint, string> =>
  Either.try({
    try: () => curve.fromBytes(key, false),
    catch: () => `The bytes are no canonical encoding of a point of ${encoding.algorithm}.`,
  });

export const normalizeEd25519 = encodedPoint(ed25519.Point, keyEncodings.ED25519);
export const normalizeEd448 = encodedPoint(ed448.Point, keyEncodings.ED448);
