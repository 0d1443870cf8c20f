/** Approver metadata: search and display only, no effect on any permission (contract 2.4). */
import { Either } from "effect";
import { type Codec, list, pair, text } from "../codec/Codec.ts";
import { memberPointer } from "../codec/JsonPointer.ts";
import { described, map, text as anyText } from "../codec/Shape.ts";
import { compareBytes } from "../codec/Bytes.ts";
import { utf8Bytes, utf8Length } from "../codec/Utf8.ts";
import { Limits } from "../base/Limits.ts";
import { type BodyFault, type Rejection, rejection } from "../base/Rejection.ts";

/**
 * Key and value pairs within every limit, sorted by the UTF-8 bytes of the key, no
 * key twice: equal maps give equal lists on every peer, whatever order they arrived in.
 */
export type Metadata = ReadonlyArray<readonly [key: string, value: string]>;

export const metadataCodec: Codec<Metadata> = list(
  pair(text(Limits.metadataKeyBytes), text(Limits.metadataValueBytes)),
  Limits.metadataPairs,
);

/** The field of a body, whose limits {@link validateMetadata} counts in bytes. */
export const metadataShape = described(
  `Search and display only. Keys and values are counted in bytes of UTF-8, and take ${Limits.metadataTotalBytes} together.`,
  map(described(`At most ${Limits.metadataValueBytes} bytes.`, anyText()), {
    maxProperties: Limits.metadataPairs,
    propertyNames: { minLength: 1, maxLength: Limits.metadataKeyBytes },
  }),
);

const POINTER = "/metadata";

/**
 * Checks every limit of contract 2.4, in UTF-8 bytes.
 *
 * @param map the submitted pairs in any order
 * @returns the canonical list; or `INVALID_METADATA` with one fault per offending
 *   pair at `/metadata/<key>`, or at `/metadata` where the key itself is too long or
 *   no Unicode to be shown. Values appear nowhere.
 */
export const validateMetadata = (map: ReadonlyMap<string, string>): Either.Either<Metadata, Rejection> => {
  if (map.size > Limits.metadataPairs) {
    return refused([fault(POINTER, "too_many_pairs", `Metadata holds at most ${Limits.metadataPairs} pairs.`)]);
  }
  const faults: Array<BodyFault> = [];
  let total = 0;
  for (const [key, value] of map) {
    const keyBytes = utf8Length(key);
    const valueBytes = utf8Length(value);
    const atKey = keyFault(keyBytes);
    const atValue = valueFault(valueBytes, () => (atKey === undefined ? memberPointer(POINTER, key) : POINTER));
    if (atKey !== undefined) faults.push(atKey);
    if (atValue !== undefined) faults.push(atValue);
    total += (keyBytes ?? 0) + (valueBytes ?? 0);
  }
  if (total > Limits.metadataTotalBytes) {
    const detail = `All keys and values together take at most ${Limits.metadataTotalBytes} bytes of UTF-8.`;
    faults.push(fault(POINTER, "total_too_long", detail));
  }
  if (faults.length > 0) return refused(faults);
  return Either.right([...map].toSorted(([left], [right]) => compareBytes(utf8Bytes(left), utf8Bytes(right))));
};

const keyFault = (bytes: number | undefined): BodyFault | undefined => {
  if (bytes === undefined) return fault(POINTER, "key_not_unicode", "A key holds half a surrogate pair.");
  if (bytes === 0) return fault(`${POINTER}/`, "key_empty", "A key takes at least 1 byte.");
  if (bytes <= Limits.metadataKeyBytes) return undefined;
  return fault(POINTER, "key_too_long", `A key takes at most ${Limits.metadataKeyBytes} bytes of UTF-8.`);
};

const valueFault = (bytes: number | undefined, pointer: () => string): BodyFault | undefined => {
  if (bytes === undefined) return fault(pointer(), "value_not_unicode", "The value holds half a surrogate pair.");
  if (bytes <= Limits.metadataValueBytes) return undefined;
  return fault(pointer(), "value_too_long", `A value takes at most ${Limits.metadataValueBytes} bytes of UTF-8.`);
};

const fault = (pointer: string, code: string, detail: string): BodyFault => ({ pointer, code, detail });

const refused = (faults: ReadonlyArray<BodyFault>): Either.Either<never, Rejection> =>
  Either.left(
    rejection(
      "INVALID_METADATA",
      "The metadata does not keep to its limits.",
      "Shorten what the errors point at and send the request again; nothing was changed.",
      { faults },
    ),
  );
