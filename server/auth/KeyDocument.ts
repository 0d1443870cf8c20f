/** A JSON Web Key Set (RFC 7517 5) reduced to the public keys tokens may be signed with. */
import { createHash } from "node:crypto";
import { Either } from "effect";
import { createLocalJWKSet, type JWK, type LocalJWKSet } from "jose";
import { type JsonObject, type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";

/** The longest key set, in bytes. */
export const maxKeySetBytes = 256 * 1024;

const maxKeys = 100;
const leastRsaBits = 2048;
/** Verification time grows with the square of the modulus. */
const mostRsaBits = 8192;

/** Keys that were parsed and vetted together. */
export interface KeyDocument {
  /** Picks the key a token's header asks for. */
  readonly keyFor: LocalJWKSet;
  /** SHA-256 of the document, to tell whether another one differs. */
  readonly digest: string;
}

/** Private and symmetric members (RFC 7518 6.2.2, 6.3.2, 6.4.1, RFC 8037 2, and `priv` of newer key types). */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

const text = (jwk: JsonObject, member: string): string | undefined => {
  const value = jwk.get(member);
  return typeof value === "string" ? value : undefined;
};

const isObject = (value: JsonValue): value is JsonObject => value instanceof Map;

const modulusBits = (modulus: string): number => {
  const hex = Buffer.from(modulus, "base64url").toString("hex").replace(/^0+/, "");
  const [first] = hex;
  return first === undefined ? 0 : (hex.length - 1) * 4 + Number.parseInt(first, 16).toString(2).length;
};

const publicMembers = (jwk: JsonObject): JWK | undefined => {
  const [kty, crv, x, y] = [text(jwk, "kty"), text(jwk, "crv"), text(jwk, "x"), text(jwk, "y")];
  const [n, e] = [text(jwk, "n"), text(jwk, "e")];
  if (kty === "OKP" && crv === "Ed25519" && x !== undefined) return { kty, crv, x };
  if (kty === "EC" && (crv === "P-256" || crv === "P-384") && x !== undefined && y !== undefined) {
    return { kty, crv, x, y };
  }
  if (kty !== "RSA" || n === undefined || e === undefined) return undefined;
  const bits = modulusBits(n);
  return bits >= leastRsaBits && bits <= mostRsaBits ? { kty, n, e } : undefined;
};

/** The key, ready to verify tokens; undefined for one that is to be passed over (RFC 7517 5). */
const usableKey = (jwk: JsonObject): JWK | undefined => {
  const operations = jwk.get("key_ops");
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return undefined;
  if (jwk.has("use") && jwk.get("use") !== "sig") return undefined;
  const members = publicMembers(jwk);
  if (members === undefined) return undefined;
  const [kid, alg] = [text(jwk, "kid"), text(jwk, "alg")];
  if ((jwk.has("kid") && kid === undefined) || (jwk.has("alg") && alg === undefined)) return undefined;
  return { ...members, ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) };
};

/**
 * Parses a key set.
 *
 * Keys of other kinds or for other uses, and RSA keys outside 2048 to 8192
 * bits, are passed over. Left, as "what is wrong; what to do": malformed JSON, a
 * duplicate member, more than 100 keys, no usable key at all, or a private or
 * symmetric key in it, which means that a secret was published.
 */
export const parseKeyDocument = (bytes: Uint8Array): Either.Either<KeyDocument, string> => {
  if (bytes.length > maxKeySetBytes) return Either.left(`is longer than ${maxKeySetBytes} bytes; publish fewer keys`);
  const parsed = parseStrictJson(bytes);
  if (Either.isLeft(parsed)) return Either.left("is not valid JSON; publish a JSON Web Key Set");
  const list = isObject(parsed.right) ? parsed.right.get("keys") : undefined;
  if (!Array.isArray(list)) return Either.left("has no list of keys; publish a JSON Web Key Set");
  if (list.length > maxKeys) return Either.left(`holds more than ${maxKeys} keys; publish fewer`);
  const keys: Array<JWK> = [];
  for (const jwk of list) {
    if (!isObject(jwk)) return Either.left("holds a key that is no JSON object; publish a JSON Web Key Set");
    if (secretMembers.some((member) => jwk.has(member))) {
      return Either.left("holds a private or symmetric key; replace that key and publish public ones only");
    }
    const key = usableKey(jwk);
    if (key !== undefined) keys.push(key);
  }
  if (keys.length === 0) {
    return Either.left("holds no usable key; publish an Ed25519, P-256, P-384 or RSA (from 2048 bits) signature key");
  }
  return Either.right({
    keyFor: createLocalJWKSet({ keys }),
    digest: createHash("sha256").update(bytes).digest("hex"),
  });
};
