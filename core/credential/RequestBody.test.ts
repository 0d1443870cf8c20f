import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Limits } from "../base/Limits.ts";
import { type Fields, readBody } from "./RequestBody.ts";

const read = <A>(body: string, known: ReadonlyArray<string>, from: (root: Fields) => A) =>
  readBody(utf8ToBytes(body), "one of these tests", known, from);
/** The field read from `{"at": …}`. */
const readAt = <A>(value: string, from: (root: Fields) => A) => read(`{"at":${value}}`, ["at"], from);
const faultsOf = (outcome: Either.Either<unknown, { readonly faults: ReadonlyArray<object> }>) =>
  Either.getOrThrow(Either.flip(outcome)).faults;
const fault = (pointer: string, code: string, detail: string) => ({ pointer, code, detail });

const isShort = (text: string) => text.length < 3;
const lengthOf = (text: string) => (isShort(text) ? text.length : undefined);
const RULE = "This must be short.";
const short = { decode: lengthOf, faultOf: (text: string) => (text === "abc" ? RULE : "") };

const readers = {
  object: (root: Fields) => root.object("at", ["in"]).string("in"),
  optionalObject: (root: Fields) => root.optionalObject("at", ["in"])?.string("in"),
  string: (root: Fields) => root.string("at", isShort, RULE),
  optionalString: (root: Fields) => root.optionalString("at", isShort, RULE),
  decoded: (root: Fields) => root.decoded("at", short),
  optionalDecoded: (root: Fields) => root.optionalDecoded("at", short),
  optionalInteger: (root: Fields) => root.optionalInteger("at"),
  optionalBoolean: (root: Fields) => root.optionalBoolean("at"),
  optionalList: (root: Fields) => root.optionalList("at", 2, isShort, RULE),
  strings: (root: Fields) => root.strings("at"),
  optionalStrings: (root: Fields) => root.optionalStrings("at"),
} satisfies { readonly [name: string]: (root: Fields) => unknown };
type Reader = keyof typeof readers;

describe("a field", () => {
  it.each<[Reader, string, unknown]>([
    ["object", '{"in":"x"}', "x"],
    ["optionalObject", '{"in":"x"}', "x"],
    ["string", '"ab"', "ab"],
    ["string", '""', ""],
    ["optionalString", '"ab"', "ab"],
    ["decoded", '"ab"', 2],
    ["decoded", '""', 0],
    ["optionalDecoded", '"ab"', 2],
    ["optionalInteger", "-7", -7],
    ["optionalInteger", "0", 0],
    ["optionalInteger", "9007199254740991", 9_007_199_254_740_991],
    ["optionalInteger", "-9007199254740991", -9_007_199_254_740_991],
    ["optionalBoolean", "true", undefined],
    ["optionalBoolean", "false", undefined],
    ["optionalList", "[]", []],
    ["optionalList", '["a","b"]', ["a", "b"]],
    [
      "strings",
      '{"b":"1","a":""}',
      new Map([
        ["b", "1"],
        ["a", ""],
      ]),
    ],
    ["strings", "{}", new Map()],
    ["optionalStrings", '{"a":"1"}', new Map([["a", "1"]])],
  ])("is read by %s from %s", (reader, value, expected) => {
    expect(readAt<unknown>(value, readers[reader])).toEqual(Either.right(expected));
  });

  it.each<[Reader, unknown]>([
    ["optionalObject", undefined],
    ["optionalString", undefined],
    ["optionalDecoded", undefined],
    ["optionalInteger", undefined],
    ["optionalBoolean", undefined],
    ["optionalList", []],
    ["optionalStrings", new Map()],
  ])("may be absent for %s", (reader, expected) => {
    expect(read<unknown>("{}", ["at"], readers[reader])).toEqual(Either.right(expected));
  });

  it.each<Reader>(["object", "string", "decoded", "strings"])("must be there for %s", (reader) => {
    const missing = fault("/at", "missing_field", "The field must be there.");
    expect(faultsOf(read<unknown>("{}", ["at"], readers[reader]))).toEqual([missing]);
  });

  it.each(Object.keys(readers) as ReadonlyArray<Reader>)("is never null for %s", (reader) => {
    const isNull = fault("/at", "null_value", "null is refused; leave an optional field out.");
    expect(faultsOf(readAt<unknown>("null", readers[reader]))).toEqual([isNull]);
  });

  it.each<[Reader, string, string]>([
    ["object", "[]", "an object"],
    ["object", '"x"', "an object"],
    ["optionalObject", "true", "an object"],
    ["string", "1", "a string"],
    ["string", "[]", "a string"],
    ["optionalString", "{}", "a string"],
    ["decoded", "0", "a string"],
    ["optionalDecoded", "false", "a string"],
    ["optionalInteger", "1.5", "an integer"],
    ["optionalInteger", "9007199254740992", "an integer"],
    ["optionalInteger", "-9007199254740992", "an integer"],
    ["optionalInteger", '"1"', "an integer"],
    ["optionalBoolean", "0", "true or false"],
    ["optionalBoolean", '"true"', "true or false"],
    ["optionalList", "{}", "an array"],
    ["optionalList", '"ab"', "an array"],
    ["strings", '["a"]', "an object"],
    ["strings", '"ab"', "an object"],
    ["optionalStrings", "[]", "an object"],
  ])("is refused by %s as %s", (reader, value, wanted) => {
    expect(faultsOf(readAt<unknown>(value, readers[reader]))).toEqual([
      fault("/at", "wrong_type", `This must be ${wanted}.`),
    ]);
  });

  it.each<Reader>(["string", "optionalString", "decoded", "optionalDecoded"])(
    "is refused by %s where it breaks a rule",
    (reader) => {
      expect(faultsOf(readAt<unknown>('"abc"', readers[reader]))).toEqual([fault("/at", "invalid_value", RULE)]);
    },
  );

  it("that no reader asks for is refused by its name, in an object too unless the caller judges the names", () => {
    const unknown = (pointer: string) => fault(pointer, "unknown_field", "No such field exists here.");
    const body = '{"b":1,"at":{"in":"x","c/d":1},"":2}';
    expect(faultsOf(read(body, ["at"], readers.object))).toEqual([unknown("/b"), unknown("/"), unknown("/at/c~1d")]);
    expect(readAt('{"in":"x","c":null}', (root) => root.object("at").names())).toEqual(Either.right(["in", "c"]));
  });
});

describe("an object", () => {
  it("tells its names and members in the order of the text", () => {
    const members = new Map<string, unknown>([
      ["b", 1],
      ["a", [null]],
    ]);
    expect(readAt('{"b":1,"a":[null]}', (root) => root.object("at").members())).toEqual(Either.right(members));
    expect(readAt('{"b":1,"a":[null]}', (root) => root.object("at").names())).toEqual(Either.right(["b", "a"]));
  });

  it("that is none has no fields, and none of them is missed", () => {
    const seen: Array<unknown> = [];
    const outcome = readAt("7", (root) => {
      const none = root.object("at");
      seen.push(none.names(), none.optionalList("x", 1, isShort, RULE));
      seen.push(none.members(), none.strings("x"), none.optionalStrings("x"));
      seen.push(none.string("x"), none.object("x").string("y"));
      seen.push(none.decoded("x", short), none.optionalDecoded("x", short));
      seen.push(none.optionalObject("x", []), none.optionalString("x"));
      seen.push(none.optionalInteger("x"), none.optionalBoolean("x"));
    });
    expect(faultsOf(outcome)).toEqual([fault("/at", "wrong_type", "This must be an object.")]);
    expect(seen.slice(0, 7)).toEqual([[], [], new Map(), new Map(), new Map(), "", ""]);
    expect(seen.slice(7)).toEqual(Array.from({ length: 6 }, () => undefined));
  });
});

describe("what is in a container", () => {
  it("is refused by its own pointer where it is no string", () => {
    const wrong = (pointer: string) => fault(pointer, "wrong_type", "This must be a string.");
    const isNull = (pointer: string) => fault(pointer, "null_value", "null is refused; leave an optional field out.");
    expect(faultsOf(readAt('[1,"a"]', readers.optionalList))).toEqual([wrong("/at/0")]);
    expect(faultsOf(readAt('["a",null]', readers.optionalList))).toEqual([isNull("/at/1")]);
    expect(faultsOf(readAt('{"a":"","b":[],"~":null}', readers.strings))).toEqual([wrong("/at/b"), isNull("/at/~0")]);
  });

  it("is refused by its own pointer where it breaks a rule", () => {
    expect(faultsOf(readAt('["a","abc"]', readers.optionalList))).toEqual([fault("/at/1", "invalid_value", RULE)]);
  });

  it("is looked at up to the limit of a list alone", () => {
    expect(faultsOf(readAt('["a","b",3]', readers.optionalList))).toEqual([
      fault("/at", "too_many", "This takes at most 2 items."),
    ]);
  });
});

describe("a body", () => {
  it("has as many bytes as it may, and not one more", () => {
    const padded = (bytes: number) => read('{"at":"ab"}'.padEnd(bytes), ["at"], readers.string);
    expect(Either.isRight(padded(Limits.requestBodyBytes))).toBe(true);
    expect(faultsOf(padded(Limits.requestBodyBytes + 1))).toEqual([
      fault("", "too_large", "This request body takes at most 262144 bytes."),
    ]);
  });

  it("is one object", () => {
    const wrong = fault("", "wrong_type", "This must be an object.");
    expect(faultsOf(read("[]", ["at"], readers.string))).toEqual([wrong]);
  });

  it("is told of as many faults as a rejection lists, in their order", () => {
    const names = Array.from({ length: Limits.listedFaults + 1 }, (_, index) => `f${index}`);
    const body = (count: number) => JSON.stringify(Object.fromEntries(names.slice(0, count).map((name) => [name, 0])));
    const pointers = (count: number) => faultsOf(read(body(count), [], () => undefined));
    expect(pointers(Limits.listedFaults)).toHaveLength(64);
    expect(pointers(Limits.listedFaults + 1)).toEqual(pointers(Limits.listedFaults));
  });
});
