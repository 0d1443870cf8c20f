/** The body of `POST /v1/custody/approvers` (contract 4.1). */
import { Either } from "effect";
import { memberPointer } from "../codec/JsonPointer.ts";
import { type JsonObject, type JsonValue, parseStrictJson } from "../codec/StrictJson.ts";
import { Limits } from "../Limits.ts";
import { type BodyFault, type Rejection, rejection } from "../Rejection.ts";
import { isApproverId } from "./ApproverId.ts";
import { type Metadata, validateMetadata } from "./Metadata.ts";

/** A registration as submitted: well formed, the key not looked at yet. */
export interface RegisterRequest {
  readonly id: string;
  readonly algorithm: string;
  readonly publicKey64: string;
  readonly metadata: Metadata;
}

/** Faults listed at most: a body of a million unknown fields must not get an answer of its own size. */
const MOST_FAULTS = 64;

/**
 * Reads a registration.
 *
 * @param body the raw request body
 * @returns the request; `INVALID_REQUEST_BODY` for malformed JSON (one fault) or for
 *   unknown, missing, null or wrongly typed fields (every fault, up to {@link MOST_FAULTS});
 *   or `INVALID_METADATA` for metadata over a limit
 */
export const parseRegisterRequest = (body: Uint8Array): Either.Either<RegisterRequest, Rejection> => {
  if (body.length > Limits.requestBodyBytes) {
    const detail = `A request body takes at most ${Limits.requestBodyBytes} bytes.`;
    return Either.left(invalidBody([{ pointer: "", code: "too_large", detail }]));
  }
  const document = parseStrictJson(body);
  if (Either.isLeft(document)) return Either.left(invalidBody([document.left]));
  const submitted = readRequest(document.right);
  if (Either.isLeft(submitted)) return Either.left(submitted.left);
  const { id, algorithm, publicKey64, pairs } = submitted.right;
  return Either.map(validateMetadata(pairs), (metadata) => ({ id, algorithm, publicKey64, metadata }));
};

const invalidBody = (faults: ReadonlyArray<BodyFault>): Rejection =>
  rejection(
    "INVALID_REQUEST_BODY",
    "The request body is not a registration.",
    "Correct what the errors point at and send the request again; nothing was changed.",
    { faults },
  );

const readRequest = (
  document: JsonValue,
): Either.Either<Omit<RegisterRequest, "metadata"> & { readonly pairs: ReadonlyMap<string, string> }, Rejection> => {
  const faults: Array<BodyFault> = [];
  const root = new Fields(document, "", ["id", "credential", "metadata"], faults);
  const credential = root.object("credential", ["type", "algorithm", "publicKey64"]);
  credential.string("type", (type) => type === "SIGNATURE", "The one type registered here is SIGNATURE.");
  const submitted = {
    id: root.string("id", isApproverId, "An id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or a digit."),
    algorithm: credential.string("algorithm"),
    publicKey64: credential.string("publicKey64"),
    pairs: root.optionalStrings("metadata"),
  };
  return faults.length === 0 ? Either.right(submitted) : Either.left(invalidBody(faults));
};

/**
 * The fields of one object. A reader that finds a fault notes it and answers with an
 * empty value, so that one pass finds every fault; the values count only if there is none.
 */
class Fields {
  readonly #pointer: string;
  readonly #faults: Array<BodyFault>;
  /** Undefined where the object itself is at fault: then its fields are not reported as well. */
  readonly #members: JsonObject | undefined;

  constructor(value: JsonValue | undefined, pointer: string, known: ReadonlyArray<string>, faults: Array<BodyFault>) {
    this.#pointer = pointer;
    this.#faults = faults;
    this.#members = isObject(value) ? value : undefined;
    if (value !== undefined && this.#members === undefined) this.#wrongType(pointer, value, "an object");
    for (const key of this.#members?.keys() ?? []) {
      if (!known.includes(key)) this.#fault(memberPointer(pointer, key), "unknown_field", "No such field exists here.");
    }
  }

  /** A field that must be there and be an object. */
  object(key: string, known: ReadonlyArray<string>): Fields {
    return new Fields(this.#required(key), this.#pointerOf(key), known, this.#faults);
  }

  /** A field that must be there, be a string and pass `check`. */
  string(key: string, check: (text: string) => boolean = () => true, rule = ""): string {
    const value = this.#required(key);
    if (value === undefined) return "";
    if (typeof value === "string") {
      if (!check(value)) this.#fault(this.#pointerOf(key), "invalid_value", rule);
      return value;
    }
    this.#wrongType(this.#pointerOf(key), value, "a string");
    return "";
  }

  /** A field that may be absent, else an object whose members are all strings. */
  optionalStrings(key: string): ReadonlyMap<string, string> {
    const strings = new Map<string, string>();
    const value = this.#members?.get(key);
    if (value === undefined) return strings;
    if (!isObject(value)) this.#wrongType(this.#pointerOf(key), value, "an object");
    for (const [name, member] of isObject(value) ? value : []) {
      if (typeof member === "string") strings.set(name, member);
      else this.#wrongType(memberPointer(this.#pointerOf(key), name), member, "a string");
    }
    return strings;
  }

  #required(key: string): JsonValue | undefined {
    const value = this.#members?.get(key);
    if (value === undefined && this.#members !== undefined) {
      this.#fault(this.#pointerOf(key), "missing_field", "The field must be there.");
    }
    return value;
  }

  #wrongType(pointer: string, value: JsonValue, wanted: string): void {
    if (value === null) this.#fault(pointer, "null_value", "null is refused; leave an optional field out.");
    else this.#fault(pointer, "wrong_type", `This must be ${wanted}.`);
  }

  #fault(pointer: string, code: string, detail: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ pointer, code, detail });
  }

  #pointerOf(key: string): string {
    return memberPointer(this.#pointer, key);
  }
}

const isObject = (value: JsonValue | undefined): value is JsonObject => value instanceof Map;
