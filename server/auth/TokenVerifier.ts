/** Verifies bearer tokens: compact JWS (RFC 7515 7.1) with an asymmetric signature from the configured key set. */
import { Effect, Either } from "effect";
import { compactVerify, errors } from "jose";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";
import { type ConfigError, configError } from "../config/ConfigError.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { KeyRing, type KeySet } from "./KeyRing.ts";
import { fileKeySource, urlKeySource } from "./KeySource.ts";
import { readKept, writeKept } from "./KeptKeys.ts";
import { parseTokenClaims } from "./TokenClaims.ts";
import { VerifiedTokens } from "./VerifiedTokens.ts";

/**
 * Why a token gives no claims: it was refused, for a reason that completes "The token was refused: ..." and never
 * quotes it; or the keys could not be had, which says nothing about the token.
 */
export type TokenFault = { readonly _tag: "Refused"; readonly reason: string } | { readonly _tag: "Unavailable" };

export const refused = (reason: string): TokenFault => ({ _tag: "Refused", reason });

const unavailable: TokenFault = { _tag: "Unavailable" };

export interface TokenVerifier {
  /**
   * The claims of a token whose signature holds. The core judges whether they count, and when
   * (core/auth/Authorization.ts). Never rejects.
   */
  readonly verify: (token: string) => Promise<Either.Either<ActorClaims, TokenFault>>;
  /** The same claims at once, where a token was verified before by keys that are still in use; else undefined. */
  readonly known: (token: string) => ActorClaims | undefined;
  /** Whether there are keys to verify with; asking has them fetched where there are none. */
  readonly hasKeys: () => boolean;
}

/** A verifier that can read its keys anew. */
export interface OpenedTokenVerifier extends TokenVerifier {
  /** Reads the key set now. The result is undefined, or why the keys from before stay in use. */
  readonly reload: () => Promise<string | undefined>;
  /** Keeps the newest set in the data folder, now that there is one, and every later set. Never rejects. */
  readonly keep: () => Promise<void>;
}

/** Characters of the longest token. */
export const maxTokenLength = 16 * 1024;

const compactForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Header parameters that bring their own key or ask for an extension (RFC 7515 4.1; RFC 8725 3.10). */
const refusedParameters = ["jwk", "jku", "x5u", "x5c", "crit"];

/** `absent` for a token without a type; names are compared as RFC 7515 4.1.9 has it. */
const typeIn = (typ: JsonValue | undefined): string | undefined =>
  typ === undefined
    ? "absent"
    : typeof typ === "string" && typ.toLowerCase() !== "absent"
      ? typ.toLowerCase().replace(/^application\/(?=[^/]*$)/, "")
      : undefined;

/** Explicit typing (RFC 8725 3.11): a proof of possession, an event or a logout token of the same issuer is no bearer token. */
const typeFault = (typ: JsonValue | undefined, types: ReadonlyArray<string>): string | undefined => {
  const type = typeIn(typ);
  return type !== undefined && types.some((each) => each.toLowerCase() === type)
    ? undefined
    : `its type (typ) is not one of ${types.join(", ")}`;
};

/** The fault of a header that shows before any key is looked for. */
const headerFault = (
  token: string,
  { algorithms, tokenTypes }: Pick<TokenVerifierOptions, "algorithms" | "tokenTypes">,
): string | undefined => {
  if (token.length > maxTokenLength) return `it is longer than ${maxTokenLength} characters`;
  if (!compactForm.test(token)) return "it is not a compact JWT";
  const header = parseStrictJson(Buffer.from(token.slice(0, token.indexOf(".")), "base64url"));
  if (Either.isLeft(header) || !(header.right instanceof Map)) return "its header is not a JSON object";
  const parameters = header.right;
  const present = refusedParameters.find((name) => parameters.has(name));
  if (present !== undefined) return `its header has the parameter ${present}, which is never accepted`;
  const algorithm = parameters.get("alg");
  if (typeof algorithm !== "string" || !algorithms.includes(algorithm)) {
    return `its algorithm is not one of ${algorithms.join(", ")}`;
  }
  const keyId = parameters.get("kid");
  if (keyId !== undefined && typeof keyId !== "string") return "its kid is not a text";
  return typeFault(parameters.get("typ"), tokenTypes);
};

const unknownKey = Symbol("no key of the set matches");

export interface TokenVerifierOptions {
  readonly keys: KeyRing;
  readonly algorithms: ReadonlyArray<string>;
  /** What a token's typ may say; `absent` where it may be missing. */
  readonly tokenTypes: ReadonlyArray<string>;
}

const verifiedPayload = async (
  token: string,
  keys: KeySet,
  algorithms: ReadonlyArray<string>,
): Promise<Either.Either<Uint8Array, TokenFault | typeof unknownKey>> => {
  try {
    const { payload } = await compactVerify(token, keys.keyFor, { algorithms: [...algorithms] });
    return Either.right(payload);
  } catch (cause) {
    if (cause instanceof errors.JWKSNoMatchingKey) return Either.left(unknownKey);
    if (cause instanceof errors.JWKSMultipleMatchingKeys) {
      return Either.left(refused("several keys match it; the issuer must give each key a kid of its own"));
    }
    return Either.left(refused("its signature does not hold"));
  }
};

type Verification = Promise<Either.Either<ActorClaims, TokenFault | typeof unknownKey>>;

/** A verifier over a key ring. It remembers verified tokens, and equal tokens at once share their verification. */
export const makeTokenVerifier = (options: TokenVerifierOptions): TokenVerifier => {
  const { keys, algorithms } = options;
  const verified = new VerifiedTokens();
  const underWay = new Map<string, Verification>();

  const claimsOf = async (token: string, set: KeySet): Verification => {
    const claims = Either.flatMap(await verifiedPayload(token, set, algorithms), (payload) =>
      Either.mapLeft(parseTokenClaims(payload), refused),
    );
    if (Either.isRight(claims)) verified.set(token, { claims: claims.right, generation: set.generation });
    return claims;
  };

  const claimsUnder = (token: string, set: KeySet): Verification => {
    const name = `${set.generation} ${token}`;
    const verification =
      underWay.get(name) ??
      claimsOf(token, set).finally(() => {
        underWay.delete(name);
      });
    underWay.set(name, verification);
    return verification;
  };

  const known = (token: string): ActorClaims | undefined => {
    const before = verified.get(token);
    // Only now: what is no token has no keys fetched.
    return before !== undefined && before.generation === keys.usable?.generation ? before.claims : undefined;
  };

  const verify = async (token: string): Promise<Either.Either<ActorClaims, TokenFault>> => {
    const before = known(token);
    if (before !== undefined) return Either.right(before);
    const fault = headerFault(token, options);
    if (fault !== undefined) return Either.left(refused(fault));
    const set = await keys.current();
    if (set === undefined) return Either.left(unavailable);
    let claims = await claimsUnder(token, set);
    if (Either.isLeft(claims) && claims.left === unknownKey) {
      const newer = await keys.newerThan(set);
      if (newer !== undefined) claims = await claimsUnder(token, newer);
    }
    return Either.mapLeft(claims, (left) => {
      if (left !== unknownKey) return left;
      // The issuer may have the key, and cannot be asked.
      return keys.isCutOff ? unavailable : refused("its key is not in the key set");
    });
  };
  return { verify, known, hasKeys: () => keys.usable !== undefined };
};

export interface TokenVerifierPorts {
  readonly now: () => number;
  readonly elapsedMillis: () => number;
  readonly report: (fault: string) => void;
}

/**
 * The verifier a configuration asks for, its keys fetched once. Keys in a file
 * must be good at the start; a URL may come up later than this peer, and until
 * then tokens are answered with `Unavailable`.
 */
export const openTokenVerifier = (
  { auth, peer }: Config,
  ports: TokenVerifierPorts,
): Effect.Effect<OpenedTokenVerifier, ConfigError> =>
  Effect.gen(function* () {
    const { file, url } = auth.jwks;
    const maxAgeMillis = auth.jwksMaxAgeMillis;
    const place = url === undefined ? undefined : { directory: peer.dataDir, url, maxAgeMillis, now: ports.now };
    let newest: Uint8Array | undefined;
    let isOpen = false;
    const keep = async (): Promise<void> => {
      isOpen = true;
      try {
        if (place !== undefined && newest !== undefined) await writeKept(place, newest);
      } catch {
        ports.report("auth.jwks: the key set could not be kept in peer.data-dir; check the folder and the disk");
      }
    };
    const source = file === undefined ? url : file;
    if (source === undefined) return yield* configError("auth.jwks", "must hold one of file and url; set one");
    const keys = new KeyRing({
      source: file === undefined ? urlKeySource(source) : fileKeySource(source),
      file,
      maxAgeMillis,
      fetched: (document) => {
        newest = document;
        if (isOpen) void keep();
      },
      elapsedMillis: ports.elapsedMillis,
      report: (fault) => {
        ports.report(`auth.jwks: ${fault}`);
      },
    });
    const fault = yield* Effect.promise(() => keys.load());
    if (fault !== undefined && file !== undefined) return yield* configError("auth.jwks.file", fault);
    if (fault !== undefined && place !== undefined) {
      const kept = yield* Effect.promise(() => readKept(place));
      const resumed = Either.flatMap(kept, ({ document, ageMillis }) => keys.resume(document, ageMillis));
      ports.report(
        Either.match(resumed, {
          onLeft: (reason) => `auth.jwks: and nothing is kept of it: ${reason}`,
          onRight: () => "auth.jwks: the key set that was kept of it is used until it is too old",
        }),
      );
    }
    const verifier = makeTokenVerifier({
      keys,
      algorithms: auth.algorithms,
      tokenTypes: auth.tokenTypes,
    });
    return { ...verifier, reload: () => keys.load(), keep };
  });
