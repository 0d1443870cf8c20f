/** The body of `PUT /v1/custody/approvers/{ref}/metadata` (contract 4.1.2). */
import { Either } from "effect";
import type { Rejection } from "../base/Rejection.ts";
import { named, object } from "../codec/Shape.ts";
import { type Metadata, metadataShape, validateMetadata } from "./Metadata.ts";
import { readBody } from "./RequestBody.ts";

/** All pairs there shall be. */
export const replacementShape = named("MetadataReplacement", object({ metadata: metadataShape }));

/**
 * Reads the map that replaces all previous pairs; an empty one clears them.
 *
 * @param body the raw request body
 * @returns the pairs; `INVALID_REQUEST_BODY` as {@link readBody} has it, the field being required; or
 *   `INVALID_METADATA` for metadata over a limit
 */
export const parseMetadataRequest = (body: Uint8Array): Either.Either<Metadata, Rejection> =>
  Either.flatMap(readBody(body, "a metadata replacement", replacementShape), ({ metadata }) =>
    validateMetadata(metadata),
  );
