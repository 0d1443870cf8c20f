/**
 * Typed descriptions of everything that is hashed, signed, sent or stored.
 *
 * One description serves all four: it writes a value into a {@link Sink}
 * (deterministic CBOR bytes, or the simulator's quick mixer) and reads it back
 * from a {@link CborSource}, refusing whatever does not fit by the path of the field.
 * Records are maps with unsigned integer keys in ascending order, RFC 8949 4.2.1.
 */
import type { Digest, Entropy, PublicKey, Signature } from "../base/Digest.ts";
import type { CborSource } from "./CborSource.ts";
import { expected, textOf, within } from "./DecodeFault.ts";
import { utf8Length } from "./Utf8.ts";
import type { Forms } from "./Versioned.ts";

/** Where a value is written, token by token. Counts announce how many items follow. */
export interface Sink {
  readonly uint: (value: number) => void;
  /** Refuses, by {@link assertText}, text over `max` bytes or without a UTF-8 form; ASCII needs no second look. */
  readonly text: (value: string, max: number) => void;
  readonly bytes: (value: Uint8Array) => void;
  /** A byte string given as lower-case hexadecimal. */
  readonly hex: (value: string) => void;
  /** Whatever `write` writes is {@link referring}. */
  readonly refer: (write: () => void) => void;
  readonly bool: (value: boolean) => void;
  readonly nothing: () => void;
  readonly list: (count: number) => void;
  readonly record: (count: number) => void;
  /** The number of the field whose value follows. */
  readonly field: (key: number) => void;
}

/**
 * Thrown by `write` for a value that its own `read` would refuse. Nothing may be
 * signed, sent or stored that cannot be read back, so this is a broken promise of
 * the program, found before the value leaves it.
 */
export class EncodeFault extends Error {
  override readonly name = "EncodeFault";
}

const misfit = (what: string): EncodeFault => new EncodeFault(`a value to be written is not ${what}`);

/** Whether a text has at most `max` bytes; one with half a surrogate pair has no UTF-8 form, and so never fits. */
export const fitsText = (value: string, max: number): boolean =>
  value.length <= max && (utf8Length(value) ?? Number.POSITIVE_INFINITY) <= max;

/** For sinks: throws {@link EncodeFault} unless a text has a UTF-8 form of at most `max` bytes. */
export const assertText = (value: string, max: number): void => {
  if (!fitsText(value, max)) throw misfit(textOf(max));
};

export interface Codec<A> {
  readonly write: (value: A, sink: Sink) => void;
  /** Reads a value from a source; throws a `DecodeFault` with the path of the misfit. */
  readonly read: (source: CborSource) => A;
}

/** The type that a codec, or the newest of several forms, describes. */
export type TypeOf<C> = C extends Codec<infer A> ? A : C extends Forms<infer A> ? A : never;

/** An unsigned integer up to 2^53 - 1. */
export const uint: Codec<number> = {
  write: (value, sink) => {
    if (!Number.isSafeInteger(value) || value < 0) throw misfit("an unsigned integer");
    sink.uint(value);
  },
  read: (source) => source.uint(),
};

export const bool: Codec<boolean> = {
  write: (value, sink) => sink.bool(value),
  read: (source) => source.bool(),
};

/** Text of at most `max` UTF-8 bytes. */
export const text = (max: number): Codec<string> => ({
  write: (value, sink) => sink.text(value, max),
  read: (source) => source.text(max),
});

/** A byte string of at most `max` bytes. */
export const bytes = (max: number): Codec<Uint8Array> => ({
  write: (value, sink) => {
    if (value.length > max) throw misfit(`at most ${max} bytes`);
    sink.bytes(value);
  },
  read: (source) => source.bytes(max),
});

const hexOf = <A extends string>(length: number): Codec<A> => ({
  write: (value, sink) => sink.hex(value),
  // The brand is the length, which the source has checked.
  read: (source) => source.hex(length) as A,
});

export const digest: Codec<Digest> = hexOf<Digest>(32);
export const entropy: Codec<Entropy> = hexOf<Entropy>(32);
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
    read: (source) => {
      const word = words[source.index()];
      if (word === undefined) throw expected(`an index below ${words.length}`);
      return word;
    },
  };
};

/** A value that may be absent, written as null. */
export const nullable = <A>(inner: Codec<A>): Codec<A | undefined> => ({
  write: (value, sink) => (value === undefined ? sink.nothing() : inner.write(value, sink)),
  read: (source) => (source.nothing() ? undefined : inner.read(source)),
});

/** At most `max` items of one kind. */
export const list = <A>(inner: Codec<A>, max: number): Codec<ReadonlyArray<A>> => ({
  write: (value, sink) => {
    if (value.length > max) throw misfit(`a list of at most ${max} items`);
    sink.list(value.length);
    for (const item of value) inner.write(item, sink);
  },
  read: (source) => {
    const count = source.list(max);
    const result: Array<A> = [];
    try {
      while (result.length < count) result.push(inner.read(source));
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
  read: (source) => {
    source.pair();
    let at = 0;
    try {
      const left = first.read(source);
      at = 1;
      return [left, second.read(source)];
    } catch (fault) {
      throw within(fault, `[${at}]`);
    }
  },
});

type Described = { readonly [name: string]: Codec<never> | Codec<unknown> };
type RecordOf<F> = { readonly [K in keyof F]: F[K] extends Codec<infer A> ? A : never };

/**
 * A record. Fields are numbered 0, 1, 2, … in the order they are listed here; every field is present in every
 * encoding, so a new one makes a new form (Versioned.ts).
 */
export const record = <const F extends { readonly [name: string]: unknown }>(
  fields: F & { readonly [K in keyof F]: F[K] extends Codec<infer A> ? Codec<A> : never },
): Codec<RecordOf<F>> => {
  const entries = Object.entries(fields as Described) as ReadonlyArray<readonly [string, Codec<unknown>]>;
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
  /** A class of its own for every record: V8 then allocates room for all fields at once. */
  class Fields {
    [name: string]: unknown;
  }
  const read = (source: CborSource): RecordOf<F> => {
    source.record(codecs.length);
    const result = new Fields();
    let key = 0;
    try {
      for (; key < codecs.length; key++) {
        source.field(key);
        result[names[key] ?? ""] = codecs[key]?.read(source);
      }
    } catch (fault) {
      throw within(fault, names[key] ?? "");
    }
    // The entries made both the names and the type.
    return result as unknown as RecordOf<F>;
  };
  return { write, read };
};

type Variants = { readonly [tag: string]: unknown };
/** One of the variants, as {@link union} describes it. */
export type Variant<V> = { readonly [K in keyof V]: { readonly _tag: K } & TypeOf<V[K]> }[keyof V];

/** A tagged union, written as the pair of the variant's number (in listed order) and its record. */
export const union = <const V extends Variants>(
  variants: V & { readonly [K in keyof V]: V[K] extends Codec<infer A> ? Codec<A> : never },
): Codec<Variant<V>> => {
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
    read: (source) => {
      source.pair();
      const entry = entries[source.index()];
      if (entry === undefined) throw expected(`a pair that starts with an index below ${entries.length}`);
      const [tag, codec] = entry;
      try {
        return { _tag: tag, ...(codec.read(source) as object) } as Variant<V>;
      } catch (fault) {
        throw within(fault, tag);
      }
    },
  };
};

/**
 * The same value, in which a digest, key or signature that came before is a number: how many different ones came before
 * it. There is one such encoding: what came before is never written in full.
 */
export const referring = <A>(inner: Codec<A>): Codec<A> => ({
  write: (value, sink) => sink.refer(() => inner.write(value, sink)),
  read: (source) => source.refer(() => inner.read(source)),
});
