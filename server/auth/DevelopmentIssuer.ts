/**
 * The token issuer of a development cluster: a private key in the folder of
 * development secrets, and the key set its peers read. Nothing else uses it.
 */
import { randomBytes } from "node:crypto";
import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Data, Effect, Either } from "effect";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { isPermissionEntry } from "../../core/auth/Permission.ts";
import { parseStrictJson } from "../../core/codec/StrictJson.ts";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { parseTokenClaims } from "./TokenClaims.ts";

/** The issuer's folder or key cannot be used, or a token was asked for that no peer would accept. */
export class DevelopmentIssuerError extends Data.TaggedError("DevelopmentIssuerError")<{ readonly message: string }> {}

export interface TokenRequest {
  readonly subject: string;
  readonly permissions: ReadonlyArray<string>;
  /** From 1 s to 30 days. */
  readonly ttlMillis: number;
  readonly audience: string;
  readonly issuer: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

export interface DevelopmentIssuer {
  /** The absolute path of the key set, for `auth.jwks.file`. */
  readonly jwksFile: string;
  /** A signed token; fails when a peer would refuse it or a permission could never grant anything. */
  readonly mint: (request: TokenRequest) => Effect.Effect<string, DevelopmentIssuerError>;
}

const keyFileName = "issuer-key.json";
const jwksFileName = "jwks.json";
const mostTtlMillis = 30 * 24 * 3_600_000;

const fail = (message: string) => new DevelopmentIssuerError({ message });

/** Fails unless the folder belongs to this user alone; makes it when it is missing. */
const ownedFolder = (directory: string): Effect.Effect<void, DevelopmentIssuerError> =>
  Effect.gen(function* () {
    const status = yield* Effect.tryPromise({
      try: async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        return stat(directory);
      },
      catch: () => fail(`${directory} cannot be used as a folder; check the path and its permissions`),
    });
    if (process.platform !== "win32" && (status.mode & 0o077) !== 0) {
      return yield* fail(`${directory} holds secrets and other users may open it; run chmod 700 on it`);
    }
  });

/** Replaces a file at once: a reader, or a crash, meets the old content or the new. */
const replaceFile = (path: string, content: string): Effect.Effect<void, DevelopmentIssuerError> =>
  Effect.tryPromise({
    try: async () => {
      const draft = `${path}.${randomBytes(8).toString("hex")}`;
      await writeFile(draft, content, { mode: 0o600, flag: "wx", flush: true });
      await rename(draft, path);
    },
    catch: () => fail(`${path} cannot be written; check the disk and the folder's permissions`),
  });

const readIfPresent = (path: string) =>
  Effect.tryPromise(() => stat(path)).pipe(
    Effect.option,
    Effect.flatMap((found) =>
      found._tag === "None"
        ? Effect.succeed(undefined)
        : readBoundedFile(path, { maxBytes: 4096, secret: true }).pipe(Effect.mapError((fault) => fail(fault.message))),
    ),
  );

interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

const damaged = (path: string) =>
  fail(`${path} does not hold an Ed25519 key; delete the development folder and start again`);

const parsePrivateKey = (path: string, bytes: Uint8Array): Effect.Effect<IssuerKey, DevelopmentIssuerError> =>
  Effect.gen(function* () {
    const parsed = Either.getOrUndefined(parseStrictJson(bytes));
    const [x, d] = parsed instanceof Map ? [parsed.get("x"), parsed.get("d")] : [];
    if (typeof x !== "string" || typeof d !== "string") return yield* damaged(path);
    const imported = yield* Effect.tryPromise({
      try: () => importJWK({ kty: "OKP", crv: "Ed25519", x, d }, "EdDSA"),
      catch: () => damaged(path),
    });
    if (imported instanceof Uint8Array) return yield* damaged(path);
    return { privateKey: imported, publicJwk: { kty: "OKP", crv: "Ed25519", x } };
  });

const makeKey = (path: string): Effect.Effect<IssuerKey, DevelopmentIssuerError> =>
  Effect.gen(function* () {
    const { privateKey } = yield* Effect.promise(() => generateKeyPair("EdDSA", { extractable: true }));
    const { x, d } = yield* Effect.promise(() => exportJWK(privateKey));
    if (x === undefined || d === undefined) return yield* damaged(path);
    yield* replaceFile(path, `${JSON.stringify({ kty: "OKP", crv: "Ed25519", x, d })}\n`);
    return { privateKey, publicJwk: { kty: "OKP", crv: "Ed25519", x } };
  });

const encoder = new TextEncoder();

const mintWith =
  (key: CryptoKey, kid: string): DevelopmentIssuer["mint"] =>
  (request) =>
    Effect.gen(function* () {
      if (!(request.ttlMillis >= 1000 && request.ttlMillis <= mostTtlMillis)) {
        return yield* fail("the lifetime is not from 1s to 30d; choose another one");
      }
      const malformed = request.permissions.findIndex((entry) => !isPermissionEntry(entry));
      if (malformed !== -1) {
        return yield* fail(`permission ${malformed + 1} is malformed; write for example service.approvers.register`);
      }
      const payload = {
        sub: request.subject,
        aud: request.audience,
        ...(request.issuer === undefined ? {} : { iss: request.issuer }),
        iat: Math.floor(request.now / 1000),
        exp: Math.floor((request.now + request.ttlMillis) / 1000),
        jti: randomBytes(16).toString("hex"),
        permissions: [...request.permissions],
      };
      const claims = parseTokenClaims(encoder.encode(JSON.stringify(payload)));
      if (Either.isLeft(claims)) return yield* fail(`no peer would accept the token: ${claims.left}`);
      return yield* Effect.promise(() =>
        new SignJWT(payload).setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid }).sign(key),
      );
    });

/**
 * Opens the issuer in a folder, making folder (0700), key and key set (0600) the
 * first time.
 *
 * Fails with a {@link DevelopmentIssuerError} when the folder is open to other
 * users, or a file in it is damaged, unreadable or cannot be written.
 */
export const openDevelopmentIssuer = (directory: string): Effect.Effect<DevelopmentIssuer, DevelopmentIssuerError> =>
  Effect.gen(function* () {
    const folder = resolve(directory);
    yield* ownedFolder(folder);
    const [keyFile, jwksFile] = [join(folder, keyFileName), join(folder, jwksFileName)];
    const stored = yield* readIfPresent(keyFile);
    const { privateKey, publicJwk } = yield* stored === undefined ? makeKey(keyFile) : parsePrivateKey(keyFile, stored);
    const kid = yield* Effect.promise(() => calculateJwkThumbprint(publicJwk));
    const jwks = `${JSON.stringify({ keys: [{ ...publicJwk, kid, alg: "EdDSA", use: "sig" }] })}\n`;
    const published = yield* readIfPresent(jwksFile);
    if (published === undefined || !Buffer.from(published).equals(Buffer.from(jwks)))
      yield* replaceFile(jwksFile, jwks);
    return { jwksFile, mint: mintWith(privateKey, kid) };
  });
