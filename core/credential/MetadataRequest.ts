/** The body of `PUT /v1/custody/approvers/{ref}/metadata` (contract 4.1.2). */
import { Either } from "effect";
import type { Rejection } from "../base/Rejection.ts";
import { type Metadata, validateMetadata } from "./Metadata.ts";
import { readBody } from "./RequestBody.ts";

/**
 * Reads the map that replaces all previous pairs; an empty one clears them.
 *
 * @param body the raw request body
 * @returns the pairs; `INVALID_REQUEST_BODY` as {@link readBody} has it, the field being required; or
 *   `INVALID_METADATA` for metadata over a limit
 */
export const parseMetadataRequest = (body: Uint8Array): Either.Either<Metadata, Rejection> =>
  Either.flatMap(
    readBody(body, "a metadata replacement", ["metadata"], (root) => root.strings("metadata")),
    validateMetadata,
  );
