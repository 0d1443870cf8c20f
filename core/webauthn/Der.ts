/**
 * DER (X.690 sections 8, 10 and 11) as used in certificates. asn1js builds the
 * values; it reads BER, so a scan before it refuses what DER does not allow:
 * indefinite and over-long lengths, strings in pieces, integers, booleans and
 * object identifiers with two forms, bits that are not there, unbounded nesting.
 * The scan also counts values, because each one that it lets through takes time.
 */
import {
  BaseStringBlock,
  BitString,
  Boolean as BooleanBlock,
  Constructed,
  Enumerated,
  fromBER,
  GeneralizedTime,
  IA5String,
  Integer,
  Null,
  NumericString,
  ObjectIdentifier,
  OctetString,
  Primitive,
  PrintableString,
  Sequence,
  Set as SetBlock,
  UTCTime,
  Utf8String,
  VisibleString,
} from "asn1js";
import { Either } from "effect";
import { utf8Text } from "../codec/Utf8.ts";
import { Limits } from "../base/Limits.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";

/** One decoded value. */
export type DerValue = ReturnType<typeof fromBER>["result"];

const DEPTH = 24;

const CONSTRUCTED = 0x20;
const CLASS = 0xc0;
const LONG_TAG = 0x1f;
const END_OF_CONTENTS = 0;
const BOOLEAN = 1;
const INTEGER = 2;
const BIT_STRING = 3;
const NULL = 5;
const OBJECT_IDENTIFIER = 6;
const ENUMERATED = 10;
const SEQUENCE = 16;
const SET = 17;

/** Leaves the recursion; never leaves this file. */
class NotDer {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

/** How many values may still be read of one certificate. */
export class ValueBudget {
  #left: number = Limits.certificateValues;

  /** @throws Refused `certificate` where none is left */
  take(): void {
    const sentence = `A certificate has more than ${Limits.certificateValues} values, those in its extensions among them.`;
    demand(this.#left > 0, "certificate", sentence);
    this.#left -= 1;
  }
}

class Scanner {
  readonly #bytes: Uint8Array;
  readonly #budget: ValueBudget;
  #at = 0;

  constructor(bytes: Uint8Array, budget: ValueBudget) {
    this.#bytes = bytes;
    this.#budget = budget;
  }

  document(): void {
    this.#element(this.#bytes.length, 0);
    if (this.#at !== this.#bytes.length) throw new NotDer("something after the end");
  }

  #byte(limit: number): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined || this.#at >= limit) throw new NotDer("the end in the middle of a value");
    this.#at += 1;
    return byte;
  }

  #element(limit: number, depth: number): void {
    this.#budget.take();
    if (depth > DEPTH) throw new NotDer("nesting that is too deep");
    const identifier = this.#byte(limit);
    if ((identifier & LONG_TAG) === LONG_TAG) this.#longTag(limit);
    const length = this.#length(limit);
    const end = this.#at + length;
    if (end > limit) throw new NotDer("a value that is longer than what holds it");
    const isConstructed = (identifier & CONSTRUCTED) !== 0;
    if ((identifier & CLASS) === 0) this.#universal(identifier & LONG_TAG, isConstructed, end);
    if (isConstructed) while (this.#at < end) this.#element(end, depth + 1);
    this.#at = end;
  }

  /** Tag numbers from 31 on, without leading zeros, of at most three octets. */
  #longTag(limit: number): void {
    const first = this.#byte(limit);
    if (first === 0x80 || first < LONG_TAG) throw new NotDer("a tag that is not in its shortest form");
    let octet = first;
    for (let count = 1; octet >= 0x80; count += 1) {
      if (count === 3) throw new NotDer("a tag number that is too large");
      octet = this.#byte(limit);
    }
  }

  #length(limit: number): number {
    const first = this.#byte(limit);
    if (first < 0x80) return first;
    const octets = first & 0x7f;
    if (octets === 0 || octets > 3) throw new NotDer("a length that is indefinite or too large");
    let length = 0;
    for (let index = 0; index < octets; index += 1) length = length * 256 + this.#byte(limit);
    const least = octets === 1 ? 0x80 : 256 ** (octets - 1);
    if (length < least) throw new NotDer("a length that is not in its shortest form");
    return length;
  }

  /** X.690 sections 8.3, 10.2, 11.1 and 11.2: values with one form only. */
  #universal(tag: number, isConstructed: boolean, end: number): void {
    const mayHoldOthers = tag === SEQUENCE || tag === SET;
    if (isConstructed !== mayHoldOthers) throw new NotDer("a string in pieces, or a sequence that is none");
    const [first = 0, second = 0] = this.#bytes.subarray(this.#at, end);
    const length = end - this.#at;
    if (tag === END_OF_CONTENTS) throw new NotDer("an end of contents");
    if (tag === BOOLEAN && (length !== 1 || (first !== 0 && first !== 0xff)))
      throw new NotDer("a boolean that is neither 00 nor ff");
    if (tag === NULL && length !== 0) throw new NotDer("a null that is not empty");
    if ((tag === INTEGER || tag === ENUMERATED) && (length === 0 || isPadded(length, first, second)))
      throw new NotDer("an integer that is not in its shortest form");
    if (tag === BIT_STRING && !this.#areBits(first, length, end)) throw new NotDer("a bit string with bits left over");
    if (tag === OBJECT_IDENTIFIER && !this.#areNumbers(end))
      throw new NotDer("an object identifier that is not in its shortest form");
  }

  /** X.690 section 8.19: at least one number, each without leading zeros, the last one whole. */
  #areNumbers(end: number): boolean {
    let isWhole = true;
    for (let at = this.#at; at < end; at += 1) {
      const octet = this.#bytes[at] ?? 0;
      if (isWhole && octet === 0x80) return false;
      isWhole = octet < 0x80;
    }
    return isWhole && end > this.#at;
  }

  #areBits(unused: number, length: number, end: number): boolean {
    if (length === 0 || unused > 7 || (length === 1 && unused !== 0)) return false;
    return ((this.#bytes[end - 1] ?? 0) & ((1 << unused) - 1)) === 0;
  }
}

const isPadded = (length: number, first: number, second: number): boolean =>
  length > 1 && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));

/** The name of a value in a refusal: "There is no integer as the serial number." */
type Name = string;

/**
 * Reads bytes that are exactly one DER value.
 *
 * @param budget of the certificate that the bytes are, or are part of
 * @throws Refused `certificate`
 */
export const readDer = (bytes: Uint8Array, name: Name, budget = new ValueBudget()): DerValue => {
  try {
    new Scanner(bytes, budget).document();
  } catch (fault) {
    if (fault instanceof NotDer) throw new FailedCheck("certificate", `There is ${fault.detail} in ${name}.`);
    throw fault;
  }
  const read = Either.try(() => fromBER(bytes));
  const isRead = Either.isRight(read) && read.right.offset === bytes.length;
  demand(isRead, "certificate", `There is a value that cannot be read in ${name}.`);
  return read.right.result;
};

const notOf = (name: Name, kind: string): FailedCheck =>
  new FailedCheck("certificate", `There is no ${kind} as ${name}.`);

/** The bytes of a value, its header included. */
export const derBytes = (value: DerValue): Uint8Array => value.valueBeforeDecodeView;

export const sequenceOf = (value: DerValue | undefined, name: Name): ReadonlyArray<DerValue> => {
  if (value instanceof Sequence) return value.valueBlock.value;
  throw notOf(name, "sequence");
};

export const setOf = (value: DerValue | undefined, name: Name): ReadonlyArray<DerValue> => {
  if (value instanceof SetBlock) return value.valueBlock.value;
  throw notOf(name, "set");
};

export const oidOf = (value: DerValue | undefined, name: Name): string => {
  if (value instanceof ObjectIdentifier) return value.getValue();
  throw notOf(name, "object identifier");
};

export const octetsOf = (value: DerValue | undefined, name: Name): Uint8Array => {
  if (value instanceof OctetString) return value.valueBlock.valueHexView;
  throw notOf(name, "octet string");
};

const bitStringOf = (value: DerValue | undefined, name: Name): BitString => {
  if (value instanceof BitString) return value;
  throw notOf(name, "bit string");
};

/** A bit string that holds octets, as signatures and keys do. */
export const bitsOf = (value: DerValue | undefined, name: Name): Uint8Array => {
  const { valueHexView, unusedBits } = bitStringOf(value, name).valueBlock;
  demand(unusedBits === 0, "certificate", `There are bits left over in ${name}.`);
  return valueHexView;
};

/** A bit string of named bits. In DER it ends with the last bit that is set; authorities in the field ignore that. */
export const flagsOf = (value: DerValue | undefined, name: Name): Uint8Array =>
  bitStringOf(value, name).valueBlock.valueHexView;

/** String types limited to ASCII. Certificates in the field contain characters that some of these types exclude. */
const asciiTypes = [PrintableString, IA5String, VisibleString, NumericString];

/** Text of any string type of ASN.1. (asn1js has times among them, and replaces what is not UTF-8.) */
export const textOf = (value: DerValue | undefined, name: Name): string => {
  if (!(value instanceof BaseStringBlock) || value instanceof UTCTime) throw notOf(name, "text");
  const octets = value.valueBlock.valueHexView;
  const isText = !(value instanceof Utf8String) || utf8Text(octets) !== undefined;
  demand(isText, "certificate", `There is text that is not UTF-8 as ${name}.`);
  const isAscii = !asciiTypes.some((type) => value instanceof type) || octets.every((octet: number) => octet < 0x80);
  demand(isAscii, "certificate", `There is text beyond ASCII as ${name}.`);
  return value.getValue();
};

/** Whether a value is a null. */
export const isNull = (value: DerValue): boolean => value instanceof Null;

/** A boolean that is false where it is absent, and so is never written out as that (X.690 section 11.5). */
export const trueOf = (value: DerValue | undefined, name: Name): true => {
  if (!(value instanceof BooleanBlock)) throw notOf(name, "boolean");
  const isTrue = value.getValue();
  demand(isTrue, "certificate", `There is ${name} written out where it is false.`);
  return true;
};

/** The two's complement octets of an integer. (asn1js has enumerated values among them.) */
export const integerOctetsOf = (value: DerValue | undefined, name: Name): Uint8Array => {
  if (value instanceof Integer && !(value instanceof Enumerated)) return value.valueBlock.valueHexView;
  throw notOf(name, "integer");
};

/** An integer from 0 to 2^31 - 1. */
export const smallIntegerOf = (value: DerValue | undefined, name: Name): number => {
  const octets = integerOctetsOf(value, name);
  const [first = 0] = octets;
  if (octets.length > 4 || first >= 0x80) throw notOf(name, "small integer");
  return octets.reduce((number, octet) => number * 256 + octet, 0);
};

/** Unix milliseconds: exactly the forms of RFC 5280 section 4.1.2.5, which end in seconds and Z. */
export const timeOf = (value: DerValue | undefined, name: Name): number => {
  if (value instanceof UTCTime || value instanceof GeneralizedTime) {
    const text = String.fromCharCode(...value.valueBlock.valueHexView);
    const date = value.toDate();
    const isGeneralized = value instanceof GeneralizedTime;
    // The decoder takes a thirteenth month for the next January; only an existing time is reproduced exactly.
    if (Number.isFinite(date.getTime()) && text === digitsOf(date.toISOString()).slice(isGeneralized ? 0 : 2) + "Z")
      return date.getTime();
  }
  throw notOf(name, "time");
};

/** The digits of an ISO date up to its seconds. */
const digitsOf = (iso: string): string => iso.slice(0, iso.indexOf(".")).replaceAll(/\D/g, "");

/** asn1js counts the classes from 1: universal, application, context-specific, private. */
const CONTEXT_CLASS = 3;

/** The number of a context tag; undefined where the value has a tag of another class. */
export const contextTagOf = ({ idBlock }: DerValue): number | undefined =>
  idBlock.tagClass === CONTEXT_CLASS ? idBlock.tagNumber : undefined;

/**
 * The content of an explicit context tag; undefined where the value has another tag.
 *
 * @throws Refused `certificate` for anything but exactly one value in the tag
 */
export const taggedOf = (value: DerValue | undefined, tag: number, name: Name): DerValue | undefined => {
  if (value === undefined || contextTagOf(value) !== tag) return undefined;
  const [inner, ...others] = value instanceof Constructed ? value.valueBlock.value : [];
  const isOne = inner !== undefined && others.length === 0;
  demand(isOne, "certificate", `There is not exactly one value in the tag of ${name}.`);
  return inner;
};

/** Whether a value is a bit string under an implicit context tag. */
export const areImplicitBits = (value: DerValue): boolean => {
  if (!(value instanceof Primitive)) return false;
  const [unused = 8, ...octets] = value.valueBlock.valueHexView;
  return unused < (octets.length === 0 ? 1 : 8) && ((octets.at(-1) ?? 0) & ((1 << unused) - 1)) === 0;
};
