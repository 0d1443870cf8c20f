/** The bodies of the system endpoints, read as strictly as a registration. */
import { Either } from "effect";
import { memberPointer } from "../../core/codec/JsonPointer.ts";
import { type JsonObject, type JsonValue, parseStrictJson } from "../../core/codec/StrictJson.ts";
import type { BodyFault } from "../../core/Rejection.ts";
import type { Initialization } from "../peer/Peer.ts";
import { type HttpFault, httpFault } from "./HttpErrors.ts";

/** These bodies have at most three short fields. */
export const maxSystemBodyBytes = 16 * 1024;

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
): Either.Either<{ readonly fields: JsonObject; readonly faults: ReadonlyArray<BodyFault> }, HttpFault> =>
  Either.flatMap(
    Either.mapLeft(parseStrictJson(body), (found) => invalid([found])),
    (document) => {
      if (!(document instanceof Map)) return Either.left(invalid([fault("", "wrong_type", "This must be an object.")]));
      const unknown = [...document.keys()]
        .filter((key) => !known.includes(key))
        .map((key) => fault(memberPointer("", key), "unknown_field", "No such field exists here."));
      const missing = known
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

/** `{peerId, threshold, total}`, positive integers; whether they fit together is the core's to judge. */
export const parseInitBody = (body: Uint8Array): Either.Either<Initialization, HttpFault> =>
  Either.flatMap(fieldsOf(body, numberNames), ({ fields, faults }) => {
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
      faults.length + wrong.length === 0
      ? Either.right({ peerId, threshold, total })
      : Either.left(invalid([...faults, ...wrong]));
  });

/** `{share64}`: one unseal share in Base64; what it is worth is the seal provider's to judge. */
export const parseUnsealBody = (body: Uint8Array): Either.Either<string, HttpFault> =>
  Either.flatMap(fieldsOf(body, ["share64"]), ({ fields, faults }) => {
    const share64 = fields.get("share64");
    if (typeof share64 === "string" && faults.length === 0) return Either.right(share64);
    const wrong =
      share64 === undefined || typeof share64 === "string" ? [] : [wrongType("/share64", share64, "a string")];
    return Either.left(invalid([...faults, ...wrong]));
  });

/** No body at all, or an empty object. */
export const parseEmptyBody = (body: Uint8Array): Either.Either<void, HttpFault> =>
  body.length === 0
    ? Either.void
    : Either.flatMap(fieldsOf(body, []), ({ faults }) =>
        faults.length === 0 ? Either.void : Either.left(invalid(faults)),
      );
