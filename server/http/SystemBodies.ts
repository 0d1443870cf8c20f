/** The bodies of the system endpoints, read as strictly as a registration. */
import { Either } from "effect";
import { memberPointer } from "../../core/codec/JsonPointer.ts";
import { type JsonObject, type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";
import type { BodyFault } from "../../core/base/Rejection.ts";
import { mostRecipientCharacters, type Recipient, recipientOf } from "../seal/Recipients.ts";
import type { Sharing } from "../seal/SealProvider.ts";
import type { Initialization } from "../peer/PeerPorts.ts";
import { type HttpFault, httpFault } from "./HttpErrors.ts";

/** These bodies have at most three short fields. */
export const maxSystemBodyBytes = 16 * 1024;
/** The same with the public keys of the future holders of shares. */
export const maxRecipientsBodyBytes = 256 * 1024;
const MOST_SHARES = 255;

const MOST_FAULTS = 64;

const invalid = (faults: ReadonlyArray<BodyFault>): HttpFault =>
  httpFault(
    "INVALID_REQUEST_BODY",
    "The request body is not what this endpoint takes.",
    "Correct what the errors point at and send the request again; nothing was changed.",
    { faults: faults.slice(0, MOST_FAULTS) },
  );

const fault = (pointer: string, code: string, detail: string): BodyFault => ({ pointer, code, detail });

/** The root object, and a fault for each of its fields that is unknown or missing. */
const fieldsOf = (
  body: Uint8Array,
  known: ReadonlyArray<string>,
  required: ReadonlyArray<string> = known,
): Either.Either<{ readonly fields: JsonObject; readonly faults: ReadonlyArray<BodyFault> }, HttpFault> =>
  Either.flatMap(
    Either.mapLeft(parseStrictJson(body), (found) => invalid([found])),
    (document) => {
      if (!(document instanceof Map)) return Either.left(invalid([fault("", "wrong_type", "This must be an object.")]));
      const unknown = [...document.keys()]
        .filter((key) => !known.includes(key))
        .map((key) => fault(memberPointer("", key), "unknown_field", "No such field exists here."));
      const missing = required
        .filter((key) => !document.has(key))
        .map((key) => fault(memberPointer("", key), "missing_field", "The field must be there."));
      return Either.right({ fields: document, faults: [...unknown, ...missing] });
    },
  );

const wrongType = (pointer: string, value: JsonValue, wanted: string): BodyFault =>
  value === null
    ? fault(pointer, "null_value", "null is refused.")
    : fault(pointer, "wrong_type", `This must be ${wanted}.`);

const numberNames = ["peerId", "threshold", "total"] as const;

/** Public keys as texts, at most 255; {@link recipientOf} judges them. */
const recipientsIn = (fields: JsonObject): Either.Either<ReadonlyArray<string>, ReadonlyArray<BodyFault>> => {
  const value = fields.get("recipients");
  if (value === undefined) return Either.right([]);
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_SHARES)
    return Either.left([wrongType("/recipients", value, `a list of 1 to ${MOST_SHARES} public keys`)]);
  const wrong = value.flatMap((each: JsonValue, index) =>
    typeof each === "string" && each.length <= mostRecipientCharacters
      ? []
      : [wrongType(`/recipients/${index}`, each, `a public key of at most ${mostRecipientCharacters} characters`)],
  );
  return wrong.length === 0 ? Either.right(value.map(String)) : Either.left(wrong);
};

/**
 * The holders' keys, one for each share and no two of one holder. Fails with `INVALID_REQUEST_BODY` and which of them
 * is no good.
 */
export const readRecipients = async (
  texts: ReadonlyArray<string>,
  shares: number,
): Promise<Either.Either<ReadonlyArray<Recipient>, HttpFault>> => {
  if (texts.length === 0) return Either.right([]);
  if (texts.length !== shares)
    return Either.left(
      invalid([fault("/recipients", "mismatch", `There are ${shares} shares, so ${shares} keys are needed.`)]),
    );
  const read = await Promise.all(texts.map(recipientOf));
  const names = read.map((each) => (Either.isRight(each) ? each.right.name : undefined));
  const wrong = read.flatMap((each, index): ReadonlyArray<BodyFault> => {
    const pointer = `/recipients/${index}`;
    if (Either.isLeft(each)) return [fault(pointer, "invalid_recipient", each.left)];
    return names.indexOf(each.right.name) < index ? [fault(pointer, "duplicate", "This key is listed twice.")] : [];
  });
  return wrong.length === 0
    ? Either.right(read.flatMap((each) => Either.getOrElse(each, () => [])))
    : Either.left(invalid(wrong));
};

export interface InitBody {
  readonly numbers: Initialization;
  readonly recipients: ReadonlyArray<string>;
}

/** `{peerId, threshold, total, recipients?}`; the core judges whether the numbers fit together. */
export const parseInitBody = (body: Uint8Array): Either.Either<InitBody, HttpFault> =>
  Either.flatMap(fieldsOf(body, [...numberNames, "recipients"], numberNames), ({ fields, faults }) => {
    const recipients = recipientsIn(fields);
    const wrong = numberNames.flatMap((name): ReadonlyArray<BodyFault> => {
      const value = fields.get(name);
      if (value === undefined) return [];
      const isNumber = typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= 65_535;
      return isNumber ? [] : [wrongType(`/${name}`, value, "an integer from 1 to 65535")];
    });
    const [peerId, threshold, total] = numberNames.map((name) => fields.get(name));
    return typeof peerId === "number" &&
      typeof threshold === "number" &&
      typeof total === "number" &&
      Either.isRight(recipients) &&
      faults.length + wrong.length === 0
      ? Either.right({ numbers: { peerId, threshold, total }, recipients: recipients.right })
      : Either.left(invalid([...faults, ...wrong, ...(Either.isLeft(recipients) ? recipients.left : [])]));
  });

export type ShareBody = { readonly _tag: "Share"; readonly share64: string } | { readonly _tag: "Reset" };

const shareIn = (fields: JsonObject, faults: ReadonlyArray<BodyFault>): Either.Either<ShareBody, HttpFault> => {
  const [share64, reset] = [fields.get("share64"), fields.get("reset")];
  if (faults.length === 0 && fields.size === 1) {
    if (typeof share64 === "string") return Either.right({ _tag: "Share", share64 });
    if (reset === true) return Either.right({ _tag: "Reset" });
  }
  const wrong = [
    ...(share64 === undefined || typeof share64 === "string" ? [] : [wrongType("/share64", share64, "a string")]),
    ...(reset === undefined || reset === true ? [] : [wrongType("/reset", reset, "true")]),
    ...(share64 === undefined && reset === undefined
      ? [fault("/share64", "missing_field", "The field must be there.")]
      : []),
    ...(share64 !== undefined && reset !== undefined
      ? [fault("", "ambiguous", "This takes one thing at a time.")]
      : []),
  ];
  return Either.left(invalid([...faults, ...wrong]));
};

/** `{share64}`: one unseal share in Base64, which the seal provider judges; or `{reset: true}`. */
export const parseUnsealBody = (body: Uint8Array): Either.Either<ShareBody, HttpFault> =>
  Either.flatMap(fieldsOf(body, ["share64", "reset"], []), ({ fields, faults }) => shareIn(fields, faults));

export type RekeyBody =
  | ShareBody
  | { readonly _tag: "Start"; readonly sharing: Sharing | undefined; readonly recipients: ReadonlyArray<string> };

/** `{start: true, shares?, threshold?, recipients?}` with both numbers or none, `{share64}`, or `{reset: true}`. */
export const parseRekeyBody = (body: Uint8Array): Either.Either<RekeyBody, HttpFault> =>
  Either.flatMap(
    fieldsOf(body, ["start", "shares", "threshold", "recipients", "share64", "reset"], []),
    ({ fields, faults }): Either.Either<RekeyBody, HttpFault> => {
      if (!fields.has("start")) return shareIn(fields, faults);
      const [start, shares, threshold] = ["start", "shares", "threshold"].map((name) => fields.get(name));
      const recipients = recipientsIn(fields);
      const wrong = [
        ...(start === true ? [] : [fault("/start", "wrong_type", "This must be true.")]),
        ...(fields.has("share64") || fields.has("reset")
          ? [fault("", "ambiguous", "This takes one thing at a time.")]
          : []),
        ...(Either.isLeft(recipients) ? recipients.left : []),
      ];
      const none = shares === undefined && threshold === undefined;
      const fit =
        typeof shares === "number" &&
        typeof threshold === "number" &&
        Number.isSafeInteger(shares) &&
        Number.isSafeInteger(threshold) &&
        threshold >= 2 &&
        threshold <= shares &&
        shares <= MOST_SHARES;
      if (!none && !fit)
        wrong.push(
          fault("/threshold", "out_of_range", `Give both numbers: 2 <= threshold <= shares <= ${MOST_SHARES}.`),
        );
      if (faults.length + wrong.length > 0 || Either.isLeft(recipients))
        return Either.left(invalid([...faults, ...wrong]));
      const sharing = fit ? { shares, threshold } : undefined;
      return Either.right({ _tag: "Start", sharing, recipients: recipients.right });
    },
  );

/** No body at all, or an empty object. */
export const parseEmptyBody = (body: Uint8Array): Either.Either<void, HttpFault> =>
  body.length === 0
    ? Either.void
    : Either.flatMap(fieldsOf(body, []), ({ faults }) =>
        faults.length === 0 ? Either.void : Either.left(invalid(faults)),
      );
