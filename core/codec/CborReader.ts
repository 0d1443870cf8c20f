/**
 * The way back: bytes to a value, or the reason why not. Bytes as they should be
 * are read in one pass. Others are judged at leisure by cborg's strict decoder;
 * what that tolerates (nesting without end, unsorted maps, odd UTF-8) is caught
 * by a depth scan before it and by encoding the value again after it.
 */
import { Either } from "effect";
import { sameBytes } from "./Bytes.ts";
import { decodeItem } from "./CborItem.ts";
import { Limits } from "../base/Limits.ts";
import { TOO_MANY_ITEMS, withEncoding } from "./CborWriter.ts";
import type { Codec } from "./Codec.ts";
import { ItemSource } from "./ItemSource.ts";
import { DecodeFault } from "./Source.ts";
import { StrictSource } from "./StrictSource.ts";

const MAX_DEPTH = 32;

/** What is wrong with the shape, before anything is built from it; malformed heads are left to the decoder. */
const shapeFault = (bytes: Uint8Array): string | undefined => {
  const open: Array<number> = [];
  let items = 0;
  let at = 0;
  while (at < bytes.length) {
    if (++items > Limits.cborItems) return TOO_MANY_ITEMS;
    const initial = bytes[at] ?? 0;
    const major = initial >> 5;
    const info = initial & 31;
    const width = info < 24 ? 0 : info < 28 ? 1 << (info - 24) : -1;
    if (width < 0) return undefined;
    let argument = width === 0 ? info : 0;
    for (let index = 1; index <= width; index++) argument = argument * 256 + (bytes[at + index] ?? 0);
    at += 1 + width;
    if (major === 2 || major === 3) at += argument;
    const isContainer = major === 4 || major === 5;
    if (isContainer && argument > 0) {
      open.push(major === 5 ? argument * 2 : argument);
      if (open.length > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
      continue;
    }
    while (open.length > 0) {
      const left = (open.pop() ?? 1) - 1;
      if (left > 0) {
        open.push(left);
        break;
      }
    }
  }
  return undefined;
};

const NO_PREFIX = new Uint8Array(0);

/** {@link decode} by way of the decoded item, which says what is wrong with bytes where {@link decodeAtOnce} does not. */
export const decodeSlowly = <A>(codec: Codec<A>, bytes: Uint8Array): Either.Either<A, string> => {
  const misshapen = shapeFault(bytes);
  if (misshapen !== undefined) return Either.left(misshapen);
  let item: unknown;
  try {
    item = decodeItem(bytes);
  } catch {
    return Either.left("not well-formed CBOR of the kinds used here");
  }
  try {
    const value = codec.read(new ItemSource(item));
    const isDeterministic = withEncoding(NO_PREFIX, codec, value, (again) => sameBytes(again, bytes));
    return isDeterministic ? Either.right(value) : Either.left("not in deterministic encoding");
  } catch (fault) {
    if (fault instanceof DecodeFault) return Either.left(fault.message);
    throw fault;
  }
};

/** The value in one pass, or undefined: then {@link decodeSlowly} knows why. */
export const decodeAtOnce = <A>(codec: Codec<A>, bytes: Uint8Array): { readonly value: A } | undefined => {
  const source = new StrictSource(bytes, Limits.cborItems);
  try {
    const value = codec.read(source);
    return source.isAtEnd ? { value } : undefined;
  } catch (fault) {
    if (fault instanceof DecodeFault) return undefined;
    throw fault;
  }
};

/** Decodes deterministic CBOR strictly; the left side is one sentence that names the field and holds no value. */
export const decode = <A>(codec: Codec<A>, bytes: Uint8Array): Either.Either<A, string> => {
  const read = decodeAtOnce(codec, bytes);
  return read === undefined ? decodeSlowly(codec, bytes) : Either.right(read.value);
};
