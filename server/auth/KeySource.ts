/** Where the bytes of a key set come from: a file, or a URL that is fetched with every bound there is. */
import { Effect, Either } from "effect";
import { readBoundedFile } from "../config/BoundedFile.ts";
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

const tooLong = `answered with more than ${maxKeySetBytes} bytes; publish fewer keys`;

const boundedBody = async (response: Response): Promise<Either.Either<Uint8Array, string>> => {
  if (response.body === null) return Either.right(new Uint8Array(0));
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    // Leaving the loop cancels the rest of the body.
    if (length > maxKeySetBytes) return Either.left(tooLong);
    chunks.push(chunk);
  }
  return Either.right(Buffer.concat(chunks));
};

/** The code of what broke a fetch, such as ECONNREFUSED, in brackets. */
const codeOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(Object(error.cause), "code") : undefined;
  return typeof code === "string" && /^[A-Z][A-Z_]*$/.test(code) ? ` (${code})` : "";
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
    try {
      const response = await fetch(url, {
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMillis),
        headers: { accept: "application/jwk-set+json, application/json", "accept-encoding": "identity" },
      });
      if (response.status === 200) return await boundedBody(response);
      await response.body?.cancel();
      const redirected = response.status >= 300 && response.status < 400;
      return Either.left(
        redirected
          ? "answered with a redirect; configure the final URL"
          : `answered with status ${response.status}; check the issuer`,
      );
    } catch (error) {
      // The text of a failed fetch names hosts and addresses; its code does not.
      const isLate = error instanceof Error && error.name === "TimeoutError";
      return Either.left(
        `${isLate ? `gave no answer within ${timeoutMillis} ms` : `cannot be reached${codeOf(error)}`}; check the address, its certificate and the issuer`,
      );
    }
  };
