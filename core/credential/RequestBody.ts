/** Reading a request body: strict JSON, every field named, every fault located by a pointer. */
import { Either } from "effect";
import { Place, type Shape } from "../codec/Shape.ts";
import { parseStrictJson } from "../codec/StrictJson.ts";
import { Limits } from "../base/Limits.ts";
import { type BodyFault, type Rejection, rejection } from "../base/Rejection.ts";

/**
 * Reads a body of one shape.
 *
 * @param body the raw request body
 * @param what completes "The request body is not ..."
 * @returns what was read; `INVALID_REQUEST_BODY` for malformed JSON (one fault) or for unknown,
 *   missing, null or wrongly typed fields (every fault, as many as a rejection lists)
 */
export const readBody = <A>(body: Uint8Array, what: string, shape: Shape<A>): Either.Either<A, Rejection> => {
  const { read, faults } = readDraft(body, shape, Limits.requestBodyBytes);
  return read === undefined || faults.length > 0 ? Either.left(bodyRefusal(what, faults)) : Either.right(read);
};

/** What was read of a body; it counts for nothing once there is a fault. */
export interface Draft<A> {
  readonly read: A | undefined;
  readonly faults: Array<BodyFault>;
}

/** The first step of {@link readBody}, for a reader that finds more faults by looking at what was read. */
export const readDraft = <A>(body: Uint8Array, shape: Shape<A>, maxBytes: number): Draft<A> => {
  if (body.length > maxBytes) {
    const detail = `This request body takes at most ${maxBytes} bytes.`;
    return { read: undefined, faults: [{ pointer: "", code: "too_large", detail }] };
  }
  const document = parseStrictJson(body);
  if (Either.isLeft(document)) return { read: undefined, faults: [document.left] };
  const faults: Array<BodyFault> = [];
  return { read: shape.read(document.right, new Place(undefined, "", faults)), faults };
};

/** The refusal of a body that is not `what`. */
export const bodyRefusal = (what: string, faults: ReadonlyArray<BodyFault>): Rejection =>
  rejection(
    "INVALID_REQUEST_BODY",
    `The request body is not ${what}.`,
    "Correct what the errors point at and send the request again; nothing was changed.",
    { faults },
  );
