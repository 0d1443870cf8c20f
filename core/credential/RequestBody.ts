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
  const refused = (faults: ReadonlyArray<BodyFault>): Either.Either<never, Rejection> =>
    Either.left(
      rejection(
        "INVALID_REQUEST_BODY",
        `The request body is not ${what}.`,
        "Correct what the errors point at and send the request again; nothing was changed.",
        { faults },
      ),
    );
  if (body.length > Limits.requestBodyBytes) {
    const detail = `This request body takes at most ${Limits.requestBodyBytes} bytes.`;
    return refused([{ pointer: "", code: "too_large", detail }]);
  }
  const document = parseStrictJson(body);
  if (Either.isLeft(document)) return refused([document.left]);
  const faults: Array<BodyFault> = [];
  const read = shape.read(document.right, new Place(undefined, "", faults));
  return read === undefined || faults.length > 0 ? refused(faults) : Either.right(read);
};
