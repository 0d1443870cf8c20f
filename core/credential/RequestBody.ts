/** Reading a request body: strict JSON, every field named, every fault located by a pointer. */
import { Either } from "effect";
import { memberPointer } from "../codec/JsonPointer.ts";
import { type JsonArray, type JsonObject, type JsonValue, parseStrictJson } from "../codec/StrictJson.ts";
import { Limits } from "../base/Limits.ts";
import { type BodyFault, type Rejection, rejection } from "../base/Rejection.ts";

/**
 * Reads a body that is one object.
 *
 * @param body the raw request body
 * @param what completes "The request body is not ..."
 * @param known the allowed fields
 * @param read takes what it needs from the fields; its result counts only if nothing was at fault
 * @returns what was read; `INVALID_REQUEST_BODY` for malformed JSON (one fault) or for unknown,
 *   missing, null or wrongly typed fields (every fault, as many as a rejection lists)
 */
export const readBody = <A>(
  body: Uint8Array,
  what: string,
  known: ReadonlyArray<string>,
  read: (root: Fields) => A,
): Either.Either<A, Rejection> => {
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
  const submitted = read(new Fields(document.right, undefined, "", known, faults));
  return faults.length === 0 ? Either.right(submitted) : refused(faults);
};

/** How the text of a field is decoded. */
export interface Decoding<A> {
  /** Undefined for text that is at fault. */
  readonly decode: (text: string) => A | undefined;
  /** The fault of such text, in one sentence that quotes nothing of it. */
  readonly faultOf: (text: string) => string;
}

/**
 * The fields of one object. A reader that finds a fault notes it and answers with an
 * empty value, so that one pass finds every fault; the values count only if there is none.
 */
export class Fields {
  /** The object that this one is a member of; undefined for the document. A pointer is computed only for a fault. */
  readonly #parent: Fields | undefined;
  readonly #key: string;
  readonly #faults: Array<BodyFault>;
  /** Undefined where the object itself is at fault: then its fields are not reported as well. */
  readonly #members: JsonObject | undefined;

  /** @param known the allowed fields; undefined where the caller judges the names itself */
  constructor(
    value: JsonValue | undefined,
    parent: Fields | undefined,
    key: string,
    known: ReadonlyArray<string> | undefined,
    faults: Array<BodyFault>,
  ) {
    this.#parent = parent;
    this.#key = key;
    this.#faults = faults;
    this.#members = isObject(value) ? value : undefined;
    if (value !== undefined && this.#members === undefined) this.#wrongType(this.#pointer(), value, "an object");
    for (const name of this.members().keys()) {
      if (known?.includes(name) === false)
        this.#fault(this.#pointerOf(name), "unknown_field", "No such field exists here.");
    }
  }

  /** A required field that must be an object. */
  object(key: string, known?: ReadonlyArray<string>): Fields {
    return new Fields(this.#required(key), this, key, known, this.#faults);
  }

  /** The same for an optional field; absent is undefined. */
  optionalObject(key: string, known: ReadonlyArray<string>): Fields | undefined {
    return this.#members?.has(key) === true ? this.object(key, known) : undefined;
  }

  /** The names present, in the order of the text. */
  names(): ReadonlyArray<string> {
    return [...this.members().keys()];
  }

  /** The members as they were read; empty where this is no object. */
  members(): JsonObject {
    return this.#members ?? new Map();
  }

  /** A required field that must be a string and pass `check`. */
  string(key: string, check: (text: string) => boolean = () => true, rule = ""): string {
    const text = this.#text(key);
    if (text === undefined) return "";
    if (!check(text)) this.#fault(this.#pointerOf(key), "invalid_value", rule);
    return text;
  }

  /** The same for an optional field; absent is undefined. */
  optionalString(key: string, check?: (text: string) => boolean, rule?: string): string | undefined {
    return this.#members?.has(key) === true ? this.string(key, check, rule) : undefined;
  }

  /** The decoded value of a required string field; undefined where it is at fault, by `decode` too. */
  decoded<A>(key: string, { decode, faultOf }: Decoding<A>): A | undefined {
    const text = this.#text(key);
    if (text === undefined) return undefined;
    const value = decode(text);
    if (value === undefined) this.#fault(this.#pointerOf(key), "invalid_value", faultOf(text));
    return value;
  }

  /** The same for an optional field; absent is undefined. */
  optionalDecoded<A>(key: string, decoding: Decoding<A>): A | undefined {
    return this.#members?.has(key) === true ? this.decoded(key, decoding) : undefined;
  }

  /** An optional field that is an integer from -(2^53 - 1) to 2^53 - 1. */
  optionalInteger(key: string): number | undefined {
    const value = this.#members?.get(key);
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    if (value !== undefined) this.#wrongType(this.#pointerOf(key), value, "an integer");
    return undefined;
  }

  /** An optional field that is true or false. */
  optionalBoolean(key: string): void {
    const value = this.#members?.get(key);
    if (value !== undefined && typeof value !== "boolean")
      this.#wrongType(this.#pointerOf(key), value, "true or false");
  }

  /** An optional field that is an array of at most `longest` strings that pass `check`. */
  optionalList(key: string, longest: number, check: (text: string) => boolean, rule: string): ReadonlyArray<string> {
    const value = this.#members?.get(key);
    if (value === undefined) return [];
    const texts: Array<string> = [];
    if (!isArray(value)) {
      this.#wrongType(this.#pointerOf(key), value, "an array");
      return texts;
    }
    if (value.length > longest) this.#fault(this.#pointerOf(key), "too_many", `This takes at most ${longest} items.`);
    for (const [index, item] of value.slice(0, longest).entries()) {
      if (typeof item !== "string") this.#wrongType(memberPointer(this.#pointerOf(key), index), item, "a string");
      else if (check(item)) texts.push(item);
      else this.#fault(memberPointer(this.#pointerOf(key), index), "invalid_value", rule);
    }
    return texts;
  }

  /** A required field that must be an object whose members are all strings. */
  strings(key: string): ReadonlyMap<string, string> {
    return this.#stringsOf(key, this.#required(key));
  }

  /** The same for an optional field; absent is the same as empty. */
  optionalStrings(key: string): ReadonlyMap<string, string> {
    return this.#stringsOf(key, this.#members?.get(key));
  }

  #stringsOf(key: string, value: JsonValue | undefined): ReadonlyMap<string, string> {
    const strings = new Map<string, string>();
    if (value === undefined) return strings;
    if (!isObject(value)) {
      this.#wrongType(this.#pointerOf(key), value, "an object");
      return strings;
    }
    for (const [name, member] of value) {
      if (typeof member === "string") strings.set(name, member);
      else this.#wrongType(memberPointer(this.#pointerOf(key), name), member, "a string");
    }
    return strings;
  }

  /** A required string; undefined where there is none, which is noted. */
  #text(key: string): string | undefined {
    const value = this.#required(key);
    if (typeof value === "string") return value;
    if (value !== undefined) this.#wrongType(this.#pointerOf(key), value, "a string");
    return undefined;
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
    this.#faults.push({ pointer, code, detail });
  }

  /** The RFC 6901 pointer of this object. */
  #pointer(): string {
    return this.#parent === undefined ? "" : this.#parent.#pointerOf(this.#key);
  }

  #pointerOf(key: string): string {
    return memberPointer(this.#pointer(), key);
  }
}

/** `Array.isArray` alone does not narrow a read-only array. */
const isArray = (value: JsonValue): value is JsonArray => Array.isArray(value);

const isObject = (value: JsonValue | undefined): value is JsonObject => value instanceof Map;
