/**
 * The claims of a verified token about its bearer. The signature is checked
 * before an event enters the core; times, audience and issuer are judged here,
 * by every member at its own time (contract 5.6).
 */
import { Either } from "effect";
import { Limits } from "../base/Limits.ts";

/** Claims of a token whose signature held (RFC 7519 4.1). Times are Unix milliseconds. */
export interface ActorClaims {
  readonly iss: string | undefined;
  readonly sub: string;
  readonly jti: string | undefined;
  readonly audience: ReadonlyArray<string>;
  readonly expiresAt: number;
  readonly notBefore: number | undefined;
  readonly issuedAt: number | undefined;
  readonly permissions: ReadonlyArray<string>;
}

/** The requirements on a token. */
export interface ActorExpectation {
  readonly audience: string;
  /** The issuer, when one is configured. */
  readonly issuer: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Why claims do not count now; each completes "The token was refused: ...". */
export type ActorFault =
  | "it is meant for another audience"
  | "it comes from another issuer"
  | "it has expired"
  | "it is not valid yet"
  | "it was issued in the future";

/**
 * Whether claims count at `now`.
 *
 * `exp` has no tolerance: at that very millisecond the token is expired (RFC
 * 7519 4.1.4). `nbf` and `iat` may lie up to 15 s ahead, for clocks that differ.
 * A time that is not a number fails every comparison and so never passes.
 */
export const checkActor = (
  claims: ActorClaims,
  { audience, issuer, now }: ActorExpectation,
): Either.Either<void, ActorFault> => {
  const ahead = now + Limits.tokenSkewMillis;
  if (!claims.audience.includes(audience)) return Either.left("it is meant for another audience");
  if (issuer !== undefined && claims.iss !== issuer) return Either.left("it comes from another issuer");
  if (!(now < claims.expiresAt)) return Either.left("it has expired");
  if (claims.notBefore !== undefined && !(claims.notBefore <= ahead)) return Either.left("it is not valid yet");
  if (claims.issuedAt !== undefined && !(claims.issuedAt <= ahead)) return Either.left("it was issued in the future");
  return Either.void;
};
