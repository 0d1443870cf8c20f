/** Finds the caller's token among the headers of a request. */
import { Either } from "effect";
import { valuesNamed } from "../net/RawHeaders.ts";
import { refused, type TokenFault } from "./TokenVerifier.ts";

const headerName = "x-jwt-token";

/**
 * The value of `X-JWT-TOKEN`, which must stand there exactly once: of two
 * tokens, the peer and a proxy before it could each believe another one.
 *
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 *   has them; the merged forms hide repetition
 */
export const extractToken = (rawHeaders: ReadonlyArray<string>): Either.Either<string, TokenFault> => {
  const values = valuesNamed(rawHeaders, headerName);
  const [token] = values;
  if (token === undefined) return Either.left(refused("the header X-JWT-TOKEN is missing"));
  return values.length === 1 ? Either.right(token) : Either.left(refused("the header X-JWT-TOKEN is repeated"));
};
