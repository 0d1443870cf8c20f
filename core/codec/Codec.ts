/**
 * Typed descriptions of everything that is hashed, signed, sent or stored.
 *
 * One description serves all four: it writes a value into a {@link Sink}
 * (deterministic CBOR bytes, or the simulator's quick mixer) and reads it back
 * from decoded CBOR, refusing whatever does not fit by the path of the field.
 * Records are maps with unsigned integer keys in ascending order, RFC 8949 4.2.1.
 */
import type { Digest, PublicKey, Signature } from "../Digest.ts";
import { hexOfBytes } from "./Hex.ts";
import { utf8Length } from "./Utf8.ts";

/** Where a value is written, token by token. Counts announce how many items follow. */
export interface Sink {
  readonly uint: (value: number) => void;
  /** Refuses with {@link assertText} what has more than `max` bytes or no UTF-8 form; ASCII needs no second look. */
  readonly text: (value: string, max: number) => void;
  readonly bytes: (value: Uint8Array) => void;
  /** A byte string given as lower-case hexadecimal. */
  readonly hex: (value: string) => void;
  readonly bool: (value: boolean) => void;
  readonly nothing: () => void;
  readonly list: (count: number) => void;
  readonly record: (count: number) => void;
  /** The number of the field whose value comes next. */
  readonly field: (key: number) => void;
}

/** Thrown inside `read` only; {@link CborReader} turns it into a value at the door. */
export class DecodeFault extends Error {
  override readonly name = "DecodeFault";
  readonly #expected: string;
  readonly #path: string;
  constructor(expected: string, path = "") {
    super(`${path === "" ? "value" : path}: expected ${expected}`);
    this.#expected = expected;
    this.#path = path;
  }

  /** The same fault, seen from the container: paths grow on the way out, since nobody asks for those of good fields. */
  within(part: string): DecodeFault {
    const separator = this.#path === "" || this.#path.startsWith("[") ? "" : ".";
    return new DecodeFault(this.#expected, `${part}${separator}${this.#path}`);
  }
}

const within = (fault: unknown, part: string): unknown => (fault instanceof DecodeFault ? fault.within(part) : fault);

/**
 * Thrown by `write` for a value that its own `read` would refuse. Nothing may be
 * signed, sent or stored that cannot be read back, so this is a broken promise of
 * the program, found before the value leaves it.
 */
export class EncodeFault extends Error {
  override readonly name = "EncodeFault";
}

const misfit = (expected: string): EncodeFault => new EncodeFault(`a value to be written is not ${expected}`);

/** Half a surrogate pair has no UTF-8 form, so a text with one in it fits nowhere. */
const fitsText = (value: string, max: number): boolean =>
  value.length <= max && (utf8Length(value) ?? Number.POSITIVE_INFINITY) <= max;

const textOf = (max: number): string => `text of at most ${max} bytes`;

/** For sinks: throws {@link EncodeFault} unless a text has a UTF-8 form of at most `max` bytes. */
export const assertText = (value: string, max: number): void => {
  if (!fitsText(value, max)) throw misfit(textOf(max));
};

export interface Codec<A> {
  readonly write: (value: A, sink: Sink) => void;
  /** Reads a decoded CBOR item; throws {@link DecodeFault} with the path of what does not fit. */
  readonly read: (item: unknown) => A;
}

/** The type a codec describes. */
export type TypeOf<C> = C extends Codec<infer A> ? A : never;

/** An unsigned integer up to 2^53 - 1. */
export const uint: Codec<number> = {
  write: (value, sink) => {
    if (!Number.isSafeInteger(value) || value < 0) throw misfit("an unsigned integer");
    sink.uint(value);
  },
  read: (item) => {
    if (typeof item !== "number" || !Number.isSafeInteger(item) || item < 0)
      throw new DecodeFault("an unsigned integer");
    return item;
  },
};

export const bool: Codec<boolean> = {
  write: (value, sink) => sink.bool(value),
  read: (item) => {
    if (typeof item !== "boolean") throw new DecodeFault("a boolean");
    return item;
  },
};

/** Text of at most `max` UTF-8 bytes. */
export const text = (max: number): Codec<string> => ({
  write: (value, sink) => sink.text(value, max),
  read: (item) => {
    if (typeof item !== "string" || !fitsText(item, max)) throw new DecodeFault(textOf(max));
    return item;
  },
});

/** A byte string of at most `max` bytes. */
export const bytes = (max: number): Codec<Uint8Array> => ({
  write: (value, sink) => {
    if (value.length > max) throw misfit(`at most ${max} bytes`);
    sink.bytes(value);
  },
  read: (item) => {
    if (!(item instanceof Uint8Array) || item.length > max) throw new DecodeFault(`at most ${max} bytes`);
    return item;
  },
});

const hexOf = <A extends string>(length: number): Codec<A> => ({
  write: (value, sink) => sink.hex(value),
  read: (item) => {
    if (!(item instanceof Uint8Array) || item.length !== length) throw new DecodeFault(`${length} bytes`);
    // The brand is the length, which was just checked.
    return hexOfBytes(item) as A;
  },
});

export const digest: Codec<Digest> = hexOf<Digest>(32);
export const publicKey: Codec<PublicKey> = hexOf<PublicKey>(32);
export const signature: Codec<Signature> = hexOf<Signature>(64);

/** One of a fixed list of words, written as its index. */
export const oneOf = <const W extends ReadonlyArray<string>>(words: W): Codec<W[number]> => {
  const indexes = new Map<string, number>(words.map((word, index) => [word, index]));
  return {
    write: (value, sink) => {
      const index = indexes.get(value);
      if (index === undefined) throw misfit("one of the listed words");
      sink.uint(index);
    },
    read: (item) => {
      const word = typeof item === "number" ? words[item] : undefined;
      if (word === undefined) throw new DecodeFault(`an index below ${words.length}`);
      return word;
    },
  };
};

/** A value that may be absent, written as null. */
export const nullable = <A>(inner: Codec<A>): Codec<A | undefined> => ({
  write: (value, sink) => (value === undefined ? sink.nothing() : inner.write(value, sink)),
  read: (item) => (item === null ? undefined : inner.read(item)),
});

/** At most `max` items of one kind. */
export const list = <A>(inner: Codec<A>, max: number): Codec<ReadonlyArray<A>> => ({
  write: (value, sink) => {
    if (value.length > max) throw misfit(`a list of at most ${max} items`);
    sink.list(value.length);
    for (const item of value) inner.write(item, sink);
  },
  read: (item) => {
    if (!Array.isArray(item) || item.length > max) throw new DecodeFault(`a list of at most ${max} items`);
    const result: Array<A> = [];
    try {
      for (const each of item) result.push(inner.read(each));
    } catch (fault) {
      throw within(fault, `[${result.length}]`);
    }
    return result;
  },
});

/** Exactly two items. */
export const pair = <A, B>(first: Codec<A>, second: Codec<B>): Codec<readonly [A, B]> => ({
  write: (value, sink) => {
    sink.list(2);
    first.write(value[0], sink);
    second.write(value[1], sink);
  },
  read: (item) => {
    if (!Array.isArray(item) || item.length !== 2) throw new DecodeFault("a pair");
    let at = 0;
    try {
      const left = first.read(item[at++]);
      return [left, second.read(item[at++])];
    } catch (fault) {
      throw within(fault, `[${at - 1}]`);
    }
  },
});

type Fields = { readonly [name: string]: Codec<never> | Codec<unknown> };
type RecordOf<F> = { readonly [K in keyof F]: F[K] extends Codec<infer A> ? A : never };

/**
 * A record. Fields are numbered 0, 1, 2, … in the order they are listed here, so
 * a new field goes last; every field is present in every encoding.
 */
export const record = <const F extends { readonly [name: string]: unknown }>(
  fields: F & { readonly [K in keyof F]: F[K] extends Codec<infer A> ? Codec<A> : never },
): Codec<RecordOf<F>> => {
  const entries = Object.entries(fields as Fields) as ReadonlyArray<readonly [string, Codec<unknown>]>;
  const names = entries.map(([name]) => name);
  const codecs = entries.map(([, codec]) => codec);
  const write = (value: RecordOf<F>, sink: Sink): void => {
    sink.record(codecs.length);
    const values = value as { readonly [name: string]: unknown };
    // Indexed, because this is the innermost loop of everything that is hashed.
    for (let key = 0; key < codecs.length; key++) {
      sink.field(key);
      codecs[key]?.write(values[names[key] ?? ""], sink);
    }
  };
  const read = (item: unknown): RecordOf<F> => {
    if (!(item instanceof Map) || item.size !== codecs.length)
      throw new DecodeFault(`a record of ${codecs.length} fields`);
    const result: { [name: string]: unknown } = {};
    let key = 0;
    try {
      for (; key < codecs.length; key++) {
        const field: unknown = item.get(key);
        // The decoder refuses CBOR's own undefined, so this is a key that is not there.
        if (field === undefined) throw new DecodeFault("the field to be present");
        result[names[key] ?? ""] = codecs[key]?.read(field);
      }
    } catch (fault) {
      throw within(fault, names[key] ?? "");
    }
    return result as RecordOf<F>;
  };
  return { write, read };
};

type Variants = { readonly [tag: string]: unknown };
type UnionOf<V> = { readonly [K in keyof V]: V[K] extends Codec<infer A> ? { readonly _tag: K } & A : never }[keyof V];

/** A tagged union, written as the pair of the variant's number (in listed order) and its record. */
export const union = <const V extends Variants>(
  variants: V & { readonly [K in keyof V]: V[K] extends Codec<infer A> ? Codec<A> : never },
): Codec<UnionOf<V>> => {
  const entries = Object.entries(variants) as ReadonlyArray<readonly [string, Codec<unknown>]>;
  const byTag = new Map(entries.map(([tag, codec], index) => [tag, { codec, index }]));
  return {
    write: (value, sink) => {
      const variant = byTag.get(String((value as { readonly _tag: unknown })._tag));
      if (variant === undefined) throw new EncodeFault("a value to be written is of no known variant");
      sink.list(2);
      sink.uint(variant.index);
      variant.codec.write(value, sink);
    },
    read: (item) => {
      if (!Array.isArray(item) || item.length !== 2) throw new DecodeFault("a pair");
      const entry = typeof item[0] === "number" ? entries[item[0]] : undefined;
      if (entry === undefined) throw new DecodeFault(`a pair that starts with an index below ${entries.length}`);
      const [tag, codec] = entry;
      try {
        return { _tag: tag, ...(codec.read(item[1]) as object) } as UnionOf<V>;
      } catch (fault) {
        throw within(fault, tag);
      }
    },
  };
};
