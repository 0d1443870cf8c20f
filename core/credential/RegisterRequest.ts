/** The body of `POST /v1/custody/approvers` (contract 4.1). */
import { Either } from "effect";
import type { Rejection } from "../base/Rejection.ts";
import { described, named, object, optional, text, word } from "../codec/Shape.ts";
import { approverIdShape } from "./ApproverId.ts";
import { type Metadata, metadataShape, validateMetadata } from "./Metadata.ts";
import { readBody } from "./RequestBody.ts";

/** A registration as submitted: well-formed, the key not examined yet. */
export interface RegisterRequest {
  readonly id: string;
  readonly algorithm: string;
  readonly publicKey64: string;
  readonly metadata: Metadata;
}

/** What is submitted: the algorithm and the key are judged later, by codes of their own. */
export const registrationShape = named(
  "Registration",
  object({
    id: approverIdShape,
    credential: object({
      type: word(["SIGNATURE"], "The one type registered here is SIGNATURE."),
      algorithm: described("One of those installed: `UNSUPPORTED_ALGORITHM` lists them.", text()),
      publicKey64: described(
        "Padded Base64 of the raw key, of the SEC 1 point or of the DER SubjectPublicKeyInfo.",
        text(),
      ),
    }),
    metadata: optional(metadataShape),
  }),
);

/**
 * Reads a registration.
 *
 * @param body the raw request body
 * @returns the request; `INVALID_REQUEST_BODY` as {@link readBody} has it; or `INVALID_METADATA` for
 *   metadata over a limit
 */
export const parseRegisterRequest = (body: Uint8Array): Either.Either<RegisterRequest, Rejection> =>
  Either.flatMap(readBody(body, "a registration", registrationShape), ({ id, credential, metadata = new Map() }) =>
    Either.map(validateMetadata(metadata), (pairs) => ({
      id,
      algorithm: credential.algorithm,
      publicKey64: credential.publicKey64,
      metadata: pairs,
    })),
  );
