/**
 * The last good key set of an issuer, kept in the data folder, so that a peer started while its issuer is away can be
 * unsealed and looked at. Public keys are no secret, and a process that may write in this folder may write the
 * configuration's key set too. It is believed for as long as a fetched one, counted from its fetch.
 */
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { parseStrictJson } from "../../core/codec/StrictJson.ts";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { maxKeySetBytes } from "./KeyDocument.ts";

const FILE = "token-keys.json";
/** The document in Base64, and the few members beside it. */
const MOST_BYTES = 2 * maxKeySetBytes;
const VERSION = 1;
/** A clock may differ by so much between the fetch and the start. */
const AHEAD_MILLIS = 5_000;

/** A document as it was fetched, and how long ago by the wall clock, in milliseconds. */
export interface Kept {
  readonly document: Uint8Array;
  readonly ageMillis: number;
}

interface Options {
  /** The data folder. */
  readonly directory: string;
  /** The address that the set comes from; one of another address is ignored. */
  readonly url: string;
  /** How old it may be, in milliseconds. */
  readonly maxAgeMillis: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const malformed = "is no kept key set; delete it";

const parsed = (bytes: Uint8Array, { url, maxAgeMillis, now }: Options): Either.Either<Kept, string> => {
  const json = parseStrictJson(bytes);
  if (Either.isLeft(json) || !(json.right instanceof Map) || json.right.size !== 4) return Either.left(malformed);
  const [version, from, fetchedAt, keys64] = ["version", "url", "fetchedAt", "keys64"].map((name) =>
    json.right instanceof Map ? json.right.get(name) : undefined,
  );
  if (version !== VERSION || typeof fetchedAt !== "number" || typeof keys64 !== "string") return Either.left(malformed);
  const document = Buffer.from(keys64, "base64");
  if (document.toString("base64") !== keys64) return Either.left(malformed);
  if (from !== url) return Either.left("is of another address than auth.jwks.url");
  const ageMillis = now() - fetchedAt;
  if (ageMillis < -AHEAD_MILLIS) return Either.left("is from the future; check the clock of this machine");
  if (ageMillis >= maxAgeMillis) return Either.left("is older than auth.jwks-max-age");
  return Either.right({ document, ageMillis: Math.max(0, ageMillis) });
};

/** The kept set of this address, if it is young enough. Left says why there is none; it is still to be judged. */
export const readKept = (options: Options): Promise<Either.Either<Kept, string>> => {
  const path = join(options.directory, FILE);
  return Effect.runPromise(
    readBoundedFile(path, { maxBytes: MOST_BYTES, secret: true }).pipe(
      Effect.map((bytes) => Either.mapLeft(parsed(bytes, options), (fault) => `${path} ${fault}`)),
      Effect.catchAll(({ message }) => Effect.succeed(Either.left(`${path}: ${message}`))),
    ),
  );
};

/** Keeps a document fetched just now in place of an earlier one. Rejects where the folder cannot be written. */
export const writeKept = async (
  { directory, url, now }: Pick<Options, "directory" | "url" | "now">,
  document: Uint8Array,
): Promise<void> => {
  const path = join(directory, FILE);
  const keys64 = Buffer.from(document).toString("base64");
  // Renamed into place, so that no reader ever sees half of one.
  await writeFile(`${path}.new`, JSON.stringify({ version: VERSION, url, fetchedAt: now(), keys64 }), { mode: 0o600 });
  await rename(`${path}.new`, path);
};
