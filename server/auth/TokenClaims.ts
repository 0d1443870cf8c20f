/** The payload of a token, read strictly (RFC 7519 4). */
import { Either } from "effect";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { type JsonObject, type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";

const mostSubjectBytes = 1024;
const mostIssuerBytes = 2048;
const mostTokenIdBytes = 1024;
const mostAudiences = 64;
/** 256 characters, the longest audience a configuration may name. */
const mostAudienceBytes = 1024;
const mostPermissions = 1024;
const mostPermissionBytes = 256;
/** The last second JavaScript can name. */
const mostSeconds = 8_640_000_000_000;

/** Leaves the parser with a reason; never leaves this file. */
class ClaimFault extends Error {}

const isText = (value: JsonValue | undefined, mostBytes: number): value is string =>
  typeof value === "string" && value !== "" && Buffer.byteLength(value, "utf8") <= mostBytes;

const textClaim = (claims: JsonObject, name: string, mostBytes: number): string | undefined => {
  const value = claims.get(name);
  if (value === undefined || isText(value, mostBytes)) return value;
  throw new ClaimFault(`its ${name} is not a text of 1 to ${mostBytes} bytes`);
};

const timeClaim = (claims: JsonObject, name: string): number | undefined => {
  const value = claims.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !(Math.abs(value) <= mostSeconds)) {
    throw new ClaimFault(`its ${name} is not a number of seconds`);
  }
  return Math.floor(value * 1000);
};

const listClaim = (claims: JsonObject, name: string, most: number, mostBytes: number): ReadonlyArray<string> => {
  const value = claims.get(name);
  if (!Array.isArray(value) || value.length > most)
    throw new ClaimFault(`its ${name} is not a list of at most ${most}`);
  return value.map((entry: JsonValue) => {
    if (isText(entry, mostBytes)) return entry;
    throw new ClaimFault(`its ${name} has an entry that is not a text of 1 to ${mostBytes} bytes`);
  });
};

const audienceClaim = (claims: JsonObject): ReadonlyArray<string> => {
  const value = claims.get("aud");
  return isText(value, mostAudienceBytes) ? [value] : listClaim(claims, "aud", mostAudiences, mostAudienceBytes);
};

const required = <A>(value: A | undefined, name: string): A => {
  if (value === undefined) throw new ClaimFault(`its ${name} is missing`);
  return value;
};

const claimsOf = (claims: JsonObject): ActorClaims => ({
  iss: textClaim(claims, "iss", mostIssuerBytes),
  sub: required(textClaim(claims, "sub", mostSubjectBytes), "sub"),
  jti: textClaim(claims, "jti", mostTokenIdBytes),
  audience: audienceClaim(claims),
  expiresAt: required(timeClaim(claims, "exp"), "exp"),
  notBefore: timeClaim(claims, "nbf"),
  issuedAt: timeClaim(claims, "iat"),
  permissions: claims.has("permissions") ? listClaim(claims, "permissions", mostPermissions, mostPermissionBytes) : [],
});

/**
 * The claims in a verified payload, times in Unix milliseconds.
 *
 * `sub`, `aud` and `exp` are required; `permissions` may be absent, which grants nothing. Left, as the end of "The
 * token was refused: ...": anything of another type or size, a claim given twice, or a payload that is no JSON object.
 */
export const parseTokenClaims = (payload: Uint8Array): Either.Either<ActorClaims, string> => {
  const parsed = parseStrictJson(payload);
  if (Either.isLeft(parsed) || !(parsed.right instanceof Map)) return Either.left("its payload is not a JSON object");
  try {
    return Either.right(claimsOf(parsed.right));
  } catch (cause) {
    if (cause instanceof ClaimFault) return Either.left(cause.message);
    throw cause;
  }
};
