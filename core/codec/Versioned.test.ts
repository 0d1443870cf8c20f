import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Crypto.ts";
import { decode, versionOf } from "./CborReader.ts";
import { encode } from "./CborWriter.ts";
import { coded } from "./Coded.ts";
import { record, text, uint } from "./Codec.ts";
import { formsOf, kept, writtenIn } from "./Versioned.ts";

const name = { name: text(8) };
/** It has an age from version 2 on and a size from version 4 on. */
const forms = formsOf(record(name))
  .since(2, record({ ...name, age: uint }), (older) => ({ ...older, age: 0 }))
  .since(4, record({ ...name, age: uint, size: uint }), (older) => ({ ...older, size: 7 }));
const value = { name: "a", age: 3, size: 5 };

const written = (version: number): Uint8Array => encode(writtenIn(version, forms), value);
const read = (bytes: Uint8Array, newest: number) => decode(writtenIn(newest, forms), bytes, newest);

describe("what is written in a version", () => {
  it("starts with its number, and has the fields of that version", () => {
    expect([...written(1)]).toEqual([0x82, 1, 0xa1, 0, 0x61, 0x61]);
    expect([...written(2)]).toEqual([0x82, 2, 0xa2, 0, 0x61, 0x61, 1, 3]);
    expect([...written(3)]).toEqual([0x82, 3, ...written(2).slice(2)]);
    expect(written(4).slice(0, 3)).toEqual(Uint8Array.of(0x82, 4, 0xa3));
    expect([written(1), written(30), Uint8Array.of(1), Uint8Array.of(0x82, 0), Uint8Array.of()].map(versionOf)).toEqual(
      [1, 30, 0, 0, 0],
    );
  });

  it.each([
    [1, { name: "a", age: 0, size: 7 }],
    [2, { name: "a", age: 3, size: 7 }],
    [3, { name: "a", age: 3, size: 7 }],
    [4, value],
  ])("is read as the newest by every program that knows version %d", (version, expected) => {
    expect(read(written(version), 4)).toEqual(Either.right(expected));
    expect(read(written(version), 5)).toEqual(Either.right(expected));
  });

  it("is refused as what it is where its version is not known", () => {
    expect(read(written(4), 3)).toEqual(Either.left("value: found version 4, and this program knows versions up to 3"));
    expect(read(Uint8Array.of(0x82, 0, 0xa0), 4)).toEqual(Either.left("value: expected a version from 1"));
    expect(read(Uint8Array.of(0xa1, 0, 0x61, 0x61), 4)).toEqual(Either.left("value: expected a pair"));
    const late = writtenIn(4, formsOf(record(name), 3));
    expect(decode(late, written(2), 4)).toEqual(Either.left("value: expected version 3 or a later one"));
    // A form is that of its version and no other.
    expect(Either.isLeft(read(Uint8Array.of(0x82, 1, ...written(2).slice(2)), 4))).toBe(true);
  });
});

describe("what is kept in the version it was made in", () => {
  const codec = kept(forms);

  it.each([1, 2, 3, 4])("comes out of a newer program as it went in, and so does its digest: version %d", (version) => {
    const made = { version, ...value };
    const bytes = encode(codec, made);
    const found = Either.getOrThrow(decode(codec, bytes, 9));
    expect(found.version).toBe(version);
    expect(encode(codec, found)).toEqual(bytes);
    expect(crypto.digest("T", codec, found)).toBe(crypto.digest("T", codec, made));
    expect(bytes).toEqual(written(version));
  });

  it("has another digest in another version, whatever is in it", () => {
    const digests = [1, 2, 3].map((version) => crypto.digest("T", codec, { version, ...value }));
    expect(new Set(digests).size).toBe(3);
  });

  it("is read in any version as part of what is known to be of a known one", () => {
    for (const version of [1, 9]) {
      const effects = { version, ...value };
      expect(coded(codec).decode(encode(codec, effects))?.version).toBe(version);
    }
  });
});
