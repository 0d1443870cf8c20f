/**
 * CBOR (RFC 8949) as authenticators may write it: a strict subset of CTAP2's canonical form, with bounds on nesting and
 * size. Map keys may come in any order, because honest authenticators differ there.
 */
import { Either } from "effect";
import { CborSource, Major } from "../codec/CborSource.ts";
import { DecodeFault, found } from "../codec/DecodeFault.ts";

export type CborKey = number | string;
export type CborValue = boolean | null | number | string | Uint8Array | CborArray | CborMap;
export type CborArray = ReadonlyArray<CborValue>;
export type CborMap = ReadonlyMap<CborKey, CborValue>;

/** Containers inside one another. An attestation object has three, its certificates included. */
const DEPTH = 8;
const ITEMS = 1024;
/** Strings and lists end no later than the bytes. */
const ANY = Number.POSITIVE_INFINITY;

/** @param depth how many containers stand around this item */
const valueOf = (source: CborSource, depth: number): CborValue => {
  switch (source.major()) {
    case Major.bytes:
      return source.bytes(ANY);
    case Major.list:
      return listOf(source, deeper(depth));
    case Major.map:
      return mapOf(source, deeper(depth));
    case Major.tag:
      throw found("a tag");
    case Major.simple:
      return simpleOf(source);
    default:
      return keyOf(source);
  }
};

const deeper = (depth: number): number => {
  if (depth === DEPTH) throw found(`more than ${DEPTH} containers inside one another`);
  return depth + 1;
};

const listOf = (source: CborSource, depth: number): CborArray => {
  const count = source.list(ANY);
  const list: Array<CborValue> = [];
  while (list.length < count) list.push(valueOf(source, depth));
  return list;
};

const mapOf = (source: CborSource, depth: number): CborMap => {
  const count = source.map();
  const map = new Map<CborKey, CborValue>();
  while (map.size < count) {
    const key = keyOf(source);
    if (map.has(key)) throw found("a map with the same key twice");
    map.set(key, valueOf(source, depth));
  }
  return map;
};

const keyOf = (source: CborSource): CborKey => {
  switch (source.major()) {
    case Major.uint:
      return exact(source.uint());
    case Major.negative:
      return exact(source.negative());
    case Major.text:
      return source.text(ANY);
    default:
      throw found("a map key that is neither an integer nor text");
  }
};

/** Below 2^53 - 1 on the wire, where a negative integer n is written as -1 - n. */
const exact = (number: number): number => {
  if (number === Number.MAX_SAFE_INTEGER || number < Number.MIN_SAFE_INTEGER) throw found("a number beyond 2^53");
  return number;
};

/** false, true and null; no float, undefined or other simple value. */
const simpleOf = (source: CborSource): boolean | null => {
  if (source.nothing()) return null;
  if (!source.isBool) throw found("a float, undefined or a simple value");
  return source.bool();
};

/** One item and where it ends. */
export interface CborItem {
  readonly value: CborValue;
  readonly end: number;
}

/**
 * Reads the item that starts at an offset; what follows it is the caller's.
 *
 * @returns the item; or the forbidden thing in the bytes, to follow "There is" in a sentence
 */
export const readCborItem = (bytes: Uint8Array, at: number): Either.Either<CborItem, string> =>
  reading(() => {
    const source = new CborSource(bytes, ITEMS, at);
    return { value: valueOf(source, 0), end: source.at };
  });

/** Reads bytes that are exactly one item. */
export const readCbor = (bytes: Uint8Array): Either.Either<CborValue, string> =>
  reading(() => {
    const source = new CborSource(bytes, ITEMS);
    const value = valueOf(source, 0);
    source.assertEnd();
    return value;
  });

const reading = <A>(read: () => A): Either.Either<A, string> => {
  try {
    return Either.right(read());
  } catch (fault) {
    if (fault instanceof DecodeFault) return Either.left(fault.detail);
    throw fault;
  }
};

/** A map, or undefined for every other value. */
export const cborMap = (value: CborValue | undefined): CborMap | undefined =>
  value instanceof Map ? value : undefined;
/** A byte string, or undefined for every other value. */
export const cborBytes = (value: CborValue | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined;
