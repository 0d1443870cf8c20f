/**
 * What a JSON value may be, said once: a shape reads such a value strictly, with every fault located by a pointer, and
 * tells itself as JSON Schema (draft 2020-12), which is how the API is described.
 */
import type { BodyFault } from "../base/Rejection.ts";
import { memberPointer } from "./JsonPointer.ts";
import type { JsonArray, JsonObject, JsonValue } from "./StrictJson.ts";

/** A schema, as it is written out as JSON. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The key under which a schema knows the name of its shape; no keyword of it. */
export const SHAPE_NAME = Symbol("shape");

export interface Shape<A> {
  readonly schema: JsonSchema;
  /**
   * Reads a value. A fault is noted at its place, and what is returned then counts for nothing: so one pass finds every
   * fault.
   */
  readonly read: (value: JsonValue, place: Place) => A | undefined;
}

/** A shape that an object need not have. */
export interface OptionalShape<A> extends Shape<A> {
  readonly isOptional: true;
}

/** What a shape reads. */
export type ValueOf<S> = S extends Shape<infer A> ? A : never;

/** Where a value stands in its document, and where faults are noted. A pointer is made only for a fault. */
export class Place {
  readonly #parent: Place | undefined;
  readonly #key: string | number;
  readonly #faults: Array<BodyFault>;

  constructor(parent: Place | undefined, key: string | number, faults: Array<BodyFault>) {
    this.#parent = parent;
    this.#key = key;
    this.#faults = faults;
  }

  member(key: string | number): Place {
    return new Place(this, key, this.#faults);
  }

  /** Another reading of the same value, whose faults are noted elsewhere. */
  notingIn(faults: Array<BodyFault>): Place {
    return new Place(this.#parent, this.#key, faults);
  }

  /** The RFC 6901 pointer. */
  get pointer(): string {
    return this.#parent === undefined ? "" : memberPointer(this.#parent.pointer, this.#key);
  }

  note(faults: ReadonlyArray<BodyFault>): undefined {
    this.#faults.push(...faults);
  }

  /** @param detail one sentence that quotes nothing of the value */
  fault(code: string, detail: string): undefined {
    this.#faults.push({ pointer: this.pointer, code, detail });
  }

  wrongType(value: JsonValue, wanted: string): undefined {
    if (value === null) this.fault("null_value", "null is refused; leave an optional field out.");
    else this.fault("wrong_type", `This must be ${wanted}.`);
  }
}

/** `Array.isArray` alone does not narrow a read-only array. */
const isArray = (value: JsonValue): value is JsonArray => Array.isArray(value);

const isObject = (value: JsonValue): value is JsonObject => value instanceof Map;

const defined = (schema: { readonly [keyword: string]: unknown }): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));

export interface TextBounds {
  /** UTF-16 code units. */
  readonly shortest?: number;
  readonly longest?: number;
  readonly pattern?: RegExp;
  /** The fault of a text that does not fit, as a sentence. */
  readonly rule?: string;
}

/** Text; any, unless it is bounded. */
export const text = ({ shortest = 0, longest, pattern, rule = "" }: TextBounds = {}): Shape<string> => {
  const most = longest ?? Number.POSITIVE_INFINITY;
  return {
    schema: defined({
      type: "string",
      minLength: shortest === 0 ? undefined : shortest,
      maxLength: longest,
      pattern: pattern?.source,
    }),
    read: (value, place) => {
      if (typeof value !== "string") return place.wrongType(value, "a string");
      const fits = value.length >= shortest && value.length <= most && pattern?.test(value) !== false;
      return fits ? value : place.fault("invalid_value", rule);
    },
  };
};

/** One of a few words. */
export const word = <const W extends string>(words: ReadonlyArray<W>, rule: string): Shape<W> => ({
  schema: words.length === 1 ? { type: "string", const: words[0] } : { type: "string", enum: words },
  read: (value, place) => {
    if (typeof value !== "string") return place.wrongType(value, "a string");
    return words.find((each) => each === value) ?? place.fault("invalid_value", rule);
  },
});

/** How a text is decoded. */
export interface Decoding<A> {
  /** Undefined for text that is at fault. */
  readonly decode: (text: string) => A | undefined;
  /** The fault of such text, in one sentence that quotes nothing of it. */
  readonly faultOf: (text: string) => string;
  /** Keywords that hold of the same texts, as far as a schema can say it. */
  readonly schema: JsonSchema;
}

/** Text that is decoded. */
export const decoded = <A>({ decode, faultOf, schema }: Decoding<A>): Shape<A> => ({
  schema: { type: "string", ...schema },
  read: (value, place) => {
    if (typeof value !== "string") return place.wrongType(value, "a string");
    return decode(value) ?? place.fault("invalid_value", faultOf(value));
  },
});

/** An integer within bounds, which are part of its type; by default from -(2^53 - 1) to 2^53 - 1. */
export const integer = (
  least: number = Number.MIN_SAFE_INTEGER,
  most: number = Number.MAX_SAFE_INTEGER,
): Shape<number> => {
  const isBounded = least !== Number.MIN_SAFE_INTEGER || most !== Number.MAX_SAFE_INTEGER;
  const wanted = isBounded ? `an integer from ${least} to ${most}` : "an integer";
  return {
    schema: { type: "integer", minimum: least, maximum: most },
    read: (value, place) =>
      typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most
        ? value
        : place.wrongType(value, wanted),
  };
};

/** Any number that JSON can say. */
export const number: Shape<number> = {
  schema: { type: "number" },
  read: (value, place) => (typeof value === "number" ? value : place.wrongType(value, "a number")),
};

export const truth: Shape<boolean> = {
  schema: { type: "boolean" },
  read: (value, place) => (typeof value === "boolean" ? value : place.wrongType(value, "true or false")),
};

/** One value alone. */
export const only = <const V extends boolean | number>(wanted: V): Shape<V> => ({
  schema: { type: typeof wanted, const: wanted },
  read: (value, place) => (value === wanted ? wanted : place.wrongType(value, String(wanted))),
});

/** The shape, or null. */
export const nullable = <A>(shape: Shape<A>): Shape<A | null> => {
  const { type, ...rest } = shape.schema;
  const values = rest["enum"];
  const named = Reflect.get(shape.schema, SHAPE_NAME) !== undefined;
  return {
    schema:
      typeof type === "string" && !named
        ? { type: [type, "null"], ...rest, ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
        : { anyOf: [shape.schema, { type: "null" }] },
    read: (value, place) => (value === null ? null : shape.read(value, place)),
  };
};

export interface ListBounds {
  readonly fewest?: number;
  readonly most?: number;
}

/** A list. Of one that is too long, no more items than it may have are looked at. */
export const list = <A>(item: Shape<A>, { fewest = 0, most }: ListBounds = {}): Shape<ReadonlyArray<A>> => ({
  schema: defined({
    type: "array",
    items: item.schema,
    minItems: fewest === 0 ? undefined : fewest,
    maxItems: most,
  }),
  read: (value, place) => {
    if (!isArray(value)) return place.wrongType(value, "an array");
    if (value.length < fewest) place.fault("too_few", `This takes at least ${fewest} items.`);
    if (most !== undefined && value.length > most) place.fault("too_many", `This takes at most ${most} items.`);
    return value.slice(0, most).flatMap((each, index): ReadonlyArray<A> => {
      const read = item.read(each, place.member(index));
      return read === undefined ? [] : [read];
    });
  },
});

/**
 * An object whose names are the caller's, and whose members are of one shape.
 *
 * @param bounds keywords about names and numbers that another reader holds it to
 */
export const map = <A>(member: Shape<A>, bounds: JsonSchema = {}): Shape<ReadonlyMap<string, A>> => ({
  schema: { type: "object", ...bounds, additionalProperties: member.schema },
  read: (value, place) => {
    if (!isObject(value)) return place.wrongType(value, "an object");
    const members = new Map<string, A>();
    for (const [name, each] of value) {
      const read = member.read(each, place.member(name));
      if (read !== undefined) members.set(name, read);
    }
    return members;
  },
});

export type Fields = { readonly [name: string]: Shape<unknown> | OptionalShape<unknown> };

type OptionalNames<F> = { [K in keyof F]: F[K] extends OptionalShape<unknown> ? K : never }[keyof F];

/** What an object of these fields reads as. */
export type Values<F> = { readonly [K in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalNames<F>]?: ValueOf<F[K]> | undefined;
};

const isOptional = (field: Shape<unknown> | OptionalShape<unknown>): boolean => "isOptional" in field;

export const optional = <A>(shape: Shape<A>): OptionalShape<A> => ({ ...shape, isOptional: true });

/**
 * An object of exactly these fields.
 *
 * @param strangers `elsewhere`: fields that are none of these are refused by whoever reads on, under a name of its own
 */
export const object = <F extends Fields>(fields: F, strangers: "here" | "elsewhere" = "here"): Shape<Values<F>> => {
  const known = Object.entries(fields);
  const names = new Set(known.map(([name]) => name));
  const required = known.filter(([, field]) => !isOptional(field)).map(([name]) => name);
  return {
    schema: {
      type: "object",
      ...(required.length === 0 ? {} : { required }),
      properties: Object.fromEntries(known.map(([name, { schema }]) => [name, schema])),
      additionalProperties: false,
    },
    read: (value, place) => {
      if (!isObject(value)) return place.wrongType(value, "an object");
      if (strangers === "here") {
        for (const name of value.keys())
          if (!names.has(name)) place.member(name).fault("unknown_field", "No such field exists here.");
      }
      const read: { [name: string]: unknown } = {};
      for (const [name, field] of known) {
        const member = value.get(name);
        if (member !== undefined) read[name] = field.read(member, place.member(name));
        else if (!isOptional(field)) place.member(name).fault("missing_field", "The field must be there.");
      }
      // A field that is at fault is missing here, and noted.
      return read as Values<F>;
    },
  };
};

type AnyShapes = { readonly [name: string]: Shape<unknown> };

/** Objects told apart by which of some fields they have: exactly one, which is the name of its shape here. */
export const byField = <S extends AnyShapes>(shapes: S): Shape<ValueOf<S[keyof S]>> => {
  const choices = Object.entries(shapes);
  const first = choices[0]?.[1];
  return {
    schema: { oneOf: choices.map(([, { schema }]) => schema) },
    read: (value, place) => {
      const present = isObject(value) ? choices.filter(([name]) => value.has(name)) : [];
      if (present.length > 1) return place.fault("ambiguous", "This takes one thing at a time.");
      const [, shape = first] = present[0] ?? [];
      // The shapes are those of S, and no others.
      return shape?.read(value, place) as ValueOf<S[keyof S]> | undefined;
    },
  };
};

/** The first shape that fits; the faults are those of the last. */
export const either = <A, B>(left: Shape<A>, right: Shape<B>): Shape<A | B> => ({
  schema: { anyOf: [left.schema, right.schema] },
  read: (value, place) => {
    const faults: Array<BodyFault> = [];
    const read = left.read(value, place.notingIn(faults));
    return faults.length === 0 ? read : right.read(value, place);
  },
});

/** What a shape reads, beside the object that it was read from. */
export const withSource = <A>(shape: Shape<A>): Shape<{ readonly read: A; readonly source: JsonObject }> => ({
  schema: shape.schema,
  read: (value, place) => {
    const read = shape.read(value, place);
    return read !== undefined && isObject(value) ? { read, source: value } : undefined;
  },
});

/**
 * The same shape of an object, with what its members must keep to together.
 *
 * @param check notes faults; a member that is at fault itself may be missing from what was read
 */
export const checked = <A>(
  shape: Shape<A>,
  check: (read: Partial<A>, source: JsonObject, place: Place) => void,
): Shape<A> => ({
  schema: shape.schema,
  read: (value, place) => {
    const read = shape.read(value, place);
    if (read !== undefined && isObject(value)) check(read, value, place);
    return read;
  },
});

/** The same shape, with a sentence about it. */
export const described = <A>(description: string, shape: Shape<A>): Shape<A> => ({
  ...shape,
  schema: { ...shape.schema, description },
});

/** The same shape under a name, by which descriptions refer to it. */
export const named = <A>(name: string, shape: Shape<A>): Shape<A> => ({
  ...shape,
  schema: { ...shape.schema, [SHAPE_NAME]: name },
});
