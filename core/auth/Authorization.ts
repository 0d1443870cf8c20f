/** Who may do what: judged by every member for itself, at its own time, from verified claims (contract 5.6). */
import { Either } from "effect";
import { type ActorClaims, checkActor } from "./ActorClaims.ts";
import { permits } from "./Permission.ts";
import { utf8Length } from "../codec/Utf8.ts";
import { Limits } from "../base/Limits.ts";
import type { ActorCheck } from "./ActorCheck.ts";
import { type Rejection, rejection } from "../base/Rejection.ts";

const unauthenticated = (reason: string): Rejection =>
  rejection("UNAUTHENTICATED", `The token was refused: ${reason}.`, "Send a valid token in X-JWT-TOKEN.");

/** The times by which a peer judges tokens, in Unix milliseconds. */
interface Clock {
  readonly now: number;
  /** What `now` would be if the clock had not been set recently. */
  readonly asBefore: ReadonlyArray<number>;
}

/** Whose tokens count, and for which audience. */
interface Trust {
  readonly settings: { readonly audience: string; readonly issuer: string | undefined };
}

/** For a token or invitation that is bad only since the clock was set: nothing may be concluded from it. */
export const clockInDoubt: Rejection = rejection(
  "CLOCK_IN_DOUBT",
  `The clock of this peer was set by more than ${Limits.clockSkewMillis / 1000} s, and by it alone the request is refused.`,
  "Repeat the request later, or through another peer; an operator looks at the clock of this one.",
);

const tooShort: Rejection = rejection(
  "UNAUTHENTICATED",
  "The token expires too soon.",
  "Get a new token and repeat the request.",
);

/**
 * The refusal of a token that ends before a change could be reserved under it (contract 5.8), if it does;
 * `tokenExpiresAt` in Unix milliseconds.
 */
export const endsTooSoon = ({ now, asBefore }: Clock, tokenExpiresAt: number): Rejection | undefined => {
  const isLongEnough = (at: number): boolean => tokenExpiresAt - at >= Limits.tokenRemainderMillis;
  if (isLongEnough(now)) return undefined;
  return asBefore.some(isLongEnough) ? clockInDoubt : tooShort;
};

/** A permission as the contract names it, without the key id that its caller sent: a refusal repeats nothing. */
const named = (permission: string): string => permission.replace(/^service\.key\..*\./su, "service.key.<keyId>.");

const fits = (claim: string | undefined, max: number): boolean =>
  claim === undefined || (utf8Length(claim) ?? Number.POSITIVE_INFINITY) <= max;

/**
 * The claims of an actor who has one of these permissions now; none is needed where the list is empty. Left: 401 or
 * 403, or 503 when the keys that verify tokens could not be had, or when only this peer's own clock speaks against the
 * token.
 */
export const authorize = (
  { now, asBefore, settings }: Clock & Trust,
  actor: ActorCheck,
  permissions: ReadonlyArray<string>,
): Either.Either<ActorClaims, Rejection> => {
  if (actor._tag === "Refused") return Either.left(unauthenticated(actor.reason));
  if (actor._tag === "Unavailable")
    return Either.left(
      rejection(
        "TOKEN_KEYS_UNAVAILABLE",
        "The keys that verify tokens cannot be had at the moment.",
        "Repeat the request; an operator checks auth.jwks, or starts this peer with the key set in auth.jwks.file.",
      ),
    );
  const { claims } = actor;
  // They are stored with the bearer's acts, so they must fit there.
  if (
    !fits(claims.sub, Limits.subjectBytes) ||
    !fits(claims.iss, Limits.issuerBytes) ||
    !fits(claims.jti, Limits.tokenIdBytes)
  )
    return Either.left(unauthenticated("its sub, iss or jti is too long"));
  const checkAt = (at: number) => checkActor(claims, { audience: settings.audience, issuer: settings.issuer, now: at });
  const checked = checkAt(now);
  if (Either.isLeft(checked))
    return Either.left(
      asBefore.some((at) => Either.isRight(checkAt(at))) ? clockInDoubt : unauthenticated(checked.left),
    );
  if (permissions.length > 0 && !permissions.some((each) => permits(claims.permissions, each)))
    return Either.left(
      rejection(
        "ACCESS_DENIED",
        `The permission ${permissions.map(named).join(" or ")} is missing.`,
        "Use a token that carries the permission.",
      ),
    );
  return Either.right(claims);
};
