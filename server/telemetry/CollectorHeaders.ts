/** The header fields that a collector asks for, most of all its token: secrets, so from a file of their own. */
import { Effect, Either } from "effect";
import { readBoundedText } from "../config/BoundedFile.ts";
import { type ConfigError, configError } from "../config/ConfigError.ts";

const KEY = "telemetry.headers-file";
const MOST_BYTES = 16 * 1024;
const MOST_FIELDS = 16;

/** Fields of the connection and of the body are this program's to set. */
const ours = /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|proxy-.*)$/;

export type CollectorHeaders = Readonly<Record<string, string>>;

const parsed = (path: string, text: string): Either.Either<CollectorHeaders, ConfigError> => {
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  const fault = (message: string) => Either.left(configError(KEY, `${path} ${message}`));
  if (lines.length === 0 || lines.length > MOST_FIELDS)
    return fault(`must hold 1 to ${MOST_FIELDS} lines; write each as Name: value`);
  const fields = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const [, given, value] =
      /^([A-Za-z0-9-]{1,64}): ?([\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?)$/.exec(line) ?? [];
    if (given === undefined || value === undefined)
      return fault(`has no header field in line ${index + 1}; write it as Name: value, in printable ASCII`);
    const name = given.toLowerCase();
    if (ours.test(name)) return fault(`names in line ${index + 1} a field that is set already; remove it`);
    if (fields.has(name)) return fault(`names in line ${index + 1} a field of an earlier line; keep one of them`);
    fields.set(name, value);
  }
  return Either.right(Object.fromEntries(fields));
};

/**
 * The header fields in a file of at most 16 KiB, one `Name: value` to a line; none without a file. Fails as every
 * secret does whose file others may read, and never quotes what it read.
 */
export const loadCollectorHeaders = (path: string | undefined): Effect.Effect<CollectorHeaders, ConfigError> =>
  path === undefined
    ? Effect.succeed({})
    : readBoundedText(path, { maxBytes: MOST_BYTES, secret: true }).pipe(
        Effect.mapError((fault) => configError(KEY, fault.message)),
        Effect.flatMap((text) => parsed(path, text)),
      );
