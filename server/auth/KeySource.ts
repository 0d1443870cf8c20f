/** Where the bytes of a key set come from: a file, or a URL that is fetched with every bound there is. */
import { Effect, Either } from "effect";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { boundedCall, type NoAnswer } from "../net/BoundedCall.ts";
import { maxKeySetBytes } from "./KeyDocument.ts";

/** Reads the key set once. Left is "what is wrong; what to do". Never rejects. */
export type KeySource = () => Promise<Either.Either<Uint8Array, string>>;

/** A key set in a local file of at most 256 KiB. */
export const fileKeySource =
  (path: string): KeySource =>
  () =>
    Effect.runPromise(
      readBoundedFile(path, { maxBytes: maxKeySetBytes, secret: false }).pipe(
        Effect.mapError((fault) => fault.message),
        Effect.either,
      ),
    );

const fetchMillis = 5000;

const reasonOf = (none: NoAnswer, millis: number): string => {
  const code = none._tag === "Broken" && none.code !== undefined ? ` (${none.code})` : "";
  const what = none._tag === "Late" ? `gave no answer within ${millis} ms` : `cannot be reached${code}`;
  return `${what}; check the address, its certificate and the issuer`;
};

/**
 * A key set at an https URL, or http on loopback; the configuration has checked
 * which. One GET within `timeoutMillis` for headers and body together, at most
 * 256 KiB, no redirect followed: an open redirect at the issuer must not choose
 * who signs tokens.
 */
export const urlKeySource =
  (url: string, timeoutMillis: number = fetchMillis): KeySource =>
  async () => {
    const answered = await boundedCall({
      url,
      method: "GET",
      headers: { accept: "application/jwk-set+json, application/json", "accept-encoding": "identity" },
      timeoutMillis,
      mostBytes: (status) => (status === 200 ? maxKeySetBytes : 0),
    });
    if (Either.isLeft(answered)) return Either.left(reasonOf(answered.left, timeoutMillis));
    const { status, body, isCut } = answered.right;
    if (status >= 300 && status < 400) return Either.left("answered with a redirect; configure the final URL");
    if (status !== 200) return Either.left(`answered with status ${status}; check the issuer`);
    return isCut
      ? Either.left(`answered with more than ${maxKeySetBytes} bytes; publish fewer keys`)
      : Either.right(body);
  };
