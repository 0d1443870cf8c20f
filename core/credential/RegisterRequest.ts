/** The body of `POST /v1/custody/approvers` (contract 4.1). */
import { Either } from "effect";
import type { Rejection } from "../base/Rejection.ts";
import { isApproverId } from "./ApproverId.ts";
import { type Metadata, validateMetadata } from "./Metadata.ts";
import { type Fields, readBody } from "./RequestBody.ts";

/** A registration as submitted: well-formed, the key not examined yet. */
export interface RegisterRequest {
  readonly id: string;
  readonly algorithm: string;
  readonly publicKey64: string;
  readonly metadata: Metadata;
}

/**
 * Reads a registration.
 *
 * @param body the raw request body
 * @returns the request; `INVALID_REQUEST_BODY` as {@link readBody} has it; or `INVALID_METADATA` for
 *   metadata over a limit
 */
export const parseRegisterRequest = (body: Uint8Array): Either.Either<RegisterRequest, Rejection> =>
  Either.flatMap(
    readBody(body, "a registration", ["id", "credential", "metadata"], readRequest),
    ({ id, algorithm, publicKey64, pairs }) =>
      Either.map(validateMetadata(pairs), (metadata) => ({ id, algorithm, publicKey64, metadata })),
  );

const readRequest = (
  root: Fields,
): Omit<RegisterRequest, "metadata"> & { readonly pairs: ReadonlyMap<string, string> } => {
  const credential = root.object("credential", ["type", "algorithm", "publicKey64"]);
  credential.string("type", (type) => type === "SIGNATURE", "The one type registered here is SIGNATURE.");
  return {
    id: root.string("id", isApproverId, "An id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or a digit."),
    algorithm: credential.string("algorithm"),
    publicKey64: credential.string("publicKey64"),
    pairs: root.optionalStrings("metadata"),
  };
};
