import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import type { BodyFault } from "../base/Rejection.ts";
import {
  byField,
  decoded,
  described,
  either,
  integer,
  list,
  map,
  named,
  nullable,
  number,
  object,
  only,
  optional,
  Place,
  type Shape,
  SHAPE_NAME,
  text,
  truth,
  withSource,
  word,
} from "./Shape.ts";
import { parseStrictJson } from "./StrictJson.ts";

const fault = (pointer: string, code: string, detail: string) => ({ pointer, code, detail });
const RULE = "This must be short.";

/** What a shape reads from a JSON text, or its faults. */
const read = (shape: Shape<unknown>, json: string): unknown => {
  const faults: Array<BodyFault> = [];
  const value = shape.read(
    Either.getOrThrowWith(parseStrictJson(utf8ToBytes(json)), ({ detail }) => new Error(detail)),
    new Place(undefined, "", faults),
  );
  return faults.length === 0 ? value : faults;
};

const short = text({ shortest: 1, longest: 2, pattern: /^[a-z]*$/, rule: RULE });
const length = decoded({
  decode: (each) => (each.length < 3 ? each.length : undefined),
  faultOf: (each) => (each === "abc" ? RULE : ""),
  schema: { maxLength: 2 },
});
const shapes = {
  text: text(),
  short,
  word: word(["a", "b"], RULE),
  length,
  any: integer(),
  small: integer(1, 9),
  number,
  truth,
  only: only(true),
  nullable: nullable(short),
  list: list(short, { fewest: 1, most: 2 }),
  map: map(short),
  object: object({ in: short, more: optional(truth) }),
  open: object({ in: short }, "elsewhere"),
  either: either(truth, short),
  byField: byField({ a: object({ a: short }), b: object({ b: truth, c: optional(truth) }) }),
  source: withSource(object({ in: length })),
} satisfies { readonly [name: string]: Shape<unknown> };
type Name = keyof typeof shapes;

describe("a shape", () => {
  it.each<[Name, string, unknown]>([
    ["text", '""', ""],
    ["short", '"ab"', "ab"],
    ["word", '"b"', "b"],
    ["length", '"ab"', 2],
    ["length", '""', 0],
    ["any", "-9007199254740991", -9_007_199_254_740_991],
    ["any", "9007199254740991", 9_007_199_254_740_991],
    ["small", "1", 1],
    ["small", "9", 9],
    ["number", "-1.5", -1.5],
    ["truth", "false", false],
    ["only", "true", true],
    ["nullable", "null", null],
    ["nullable", '"a"', "a"],
    ["list", '["a"]', ["a"]],
    ["list", '["a","b"]', ["a", "b"]],
    [
      "map",
      '{"b":"x","__proto__":"y"}',
      new Map([
        ["b", "x"],
        ["__proto__", "y"],
      ]),
    ],
    ["map", "{}", new Map()],
    ["object", '{"in":"a"}', { in: "a" }],
    ["object", '{"more":true,"in":"a"}', { in: "a", more: true }],
    ["open", '{"in":"a","other":null}', { in: "a" }],
    ["either", "true", true],
    ["either", '"a"', "a"],
    ["byField", '{"a":"a"}', { a: "a" }],
    ["byField", '{"b":true,"c":false}', { b: true, c: false }],
    ["source", '{"in":"ab"}', { read: { in: 2 }, source: new Map([["in", "ab"]]) }],
  ])("%s reads %s", (name, json, expected) => {
    expect(read(shapes[name], json)).toEqual(expected);
  });

  it.each<[Name, string, string]>([
    ["text", "1", "a string"],
    ["word", "[]", "a string"],
    ["length", "0", "a string"],
    ["any", "1.5", "an integer"],
    ["any", "9007199254740992", "an integer"],
    ["any", "-9007199254740992", "an integer"],
    ["any", '"1"', "an integer"],
    ["small", "0", "an integer from 1 to 9"],
    ["small", "10", "an integer from 1 to 9"],
    ["number", '"1"', "a number"],
    ["truth", "0", "true or false"],
    ["only", "false", "true"],
    ["nullable", "1", "a string"],
    ["list", '"ab"', "an array"],
    ["list", "{}", "an array"],
    ["map", "[]", "an object"],
    ["object", '"x"', "an object"],
    ["either", "{}", "a string"],
    ["byField", "[]", "an object"],
    ["source", "true", "an object"],
  ])("%s refuses %s by its type", (name, json, wanted) => {
    expect(read(shapes[name], json)).toEqual([fault("", "wrong_type", `This must be ${wanted}.`)]);
  });

  it.each<Name>([
    "text",
    "word",
    "length",
    "any",
    "number",
    "truth",
    "only",
    "list",
    "map",
    "object",
    "byField",
    "source",
  ])("%s is never null", (name) => {
    const isNull = fault("", "null_value", "null is refused; leave an optional field out.");
    expect(read(shapes[name], "null")).toEqual([isNull]);
  });

  it.each<[Name, string, ReadonlyArray<object>]>([
    ["short", '""', [fault("", "invalid_value", RULE)]],
    ["short", '"abc"', [fault("", "invalid_value", RULE)]],
    ["short", '"A"', [fault("", "invalid_value", RULE)]],
    ["word", '"c"', [fault("", "invalid_value", RULE)]],
    ["length", '"abc"', [fault("", "invalid_value", RULE)]],
    ["list", "[]", [fault("", "too_few", "This takes at least 1 items.")]],
    ["list", '["a","b",3]', [fault("", "too_many", "This takes at most 2 items.")]],
    ["list", '["a",1]', [fault("/1", "wrong_type", "This must be a string.")]],
    ["list", '["abc"]', [fault("/0", "invalid_value", RULE)]],
    ["map", '{"a/b":1,"c":"d"}', [fault("/a~1b", "wrong_type", "This must be a string.")]],
    ["object", "{}", [fault("/in", "missing_field", "The field must be there.")]],
    [
      "object",
      '{"x":1,"more":1}',
      [
        fault("/x", "unknown_field", "No such field exists here."),
        fault("/in", "missing_field", "The field must be there."),
        fault("/more", "wrong_type", "This must be true or false."),
      ],
    ],
    ["byField", '{"a":"a","b":true}', [fault("", "ambiguous", "This takes one thing at a time.")]],
    ["byField", "{}", [fault("/a", "missing_field", "The field must be there.")]],
    ["byField", '{"b":true,"d":1}', [fault("/d", "unknown_field", "No such field exists here.")]],
  ])("%s refuses %s, with every fault", (name, json, faults) => {
    expect(read(shapes[name], json)).toEqual(faults);
  });

  it("locates what is deep inside", () => {
    const deep = object({ items: list(object({ at: short })) });
    expect(read(deep, '{"items":[{"at":"a"},{"at":1}]}')).toEqual([
      fault("/items/1/at", "wrong_type", "This must be a string."),
    ]);
  });
});

describe("the schema of a shape", () => {
  it.each<[Name, object]>([
    ["text", { type: "string" }],
    ["short", { type: "string", minLength: 1, maxLength: 2, pattern: "^[a-z]*$" }],
    ["word", { type: "string", enum: ["a", "b"] }],
    ["length", { type: "string", maxLength: 2 }],
    ["any", { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }],
    ["small", { type: "integer", minimum: 1, maximum: 9 }],
    ["only", { type: "boolean", const: true }],
    ["nullable", { type: ["string", "null"], minLength: 1, maxLength: 2, pattern: "^[a-z]*$" }],
    ["map", { type: "object", additionalProperties: short.schema }],
    ["list", { type: "array", items: short.schema, minItems: 1, maxItems: 2 }],
    [
      "object",
      {
        type: "object",
        required: ["in"],
        properties: { in: short.schema, more: { type: "boolean" } },
        additionalProperties: false,
      },
    ],
    ["either", { anyOf: [{ type: "boolean" }, short.schema] }],
  ])("says the same of %s", (name, schema) => {
    expect(shapes[name].schema).toEqual(schema);
  });

  it("keeps its name and what is said of it", () => {
    const shape = described("A flag.", named("Flag", truth));
    expect(shape.schema).toEqual({ type: "boolean", description: "A flag.", [SHAPE_NAME]: "Flag" });
    expect(nullable(named("Flag", truth)).schema).toEqual({
      anyOf: [{ type: "boolean", [SHAPE_NAME]: "Flag" }, { type: "null" }],
    });
    expect(nullable(word(["a", "b"], RULE)).schema).toEqual({ type: ["string", "null"], enum: ["a", "b", null] });
  });
});
