import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { parseStrictJson } from "./StrictJson.ts";

/** The result expected of our parser, given that of `JSON.parse`. */
const mapped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, mapped(member)]));
};

/** The strict UTF-8 decoder of the platform, which removes nothing. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const corpus = fileURLToPath(new URL("../../../shared/vectors/json/test_parsing/", import.meta.url));
const files = existsSync(corpus) ? readdirSync(corpus) : [];

const read = (file: string) => readFileSync(join(corpus, file));
const named = (start: string) => files.filter((file) => file.startsWith(start));

/** The cases that the corpus leaves to the implementation, and the choice of this one. */
const choices: Readonly<Record<string, string | undefined>> = {
  "i_number_double_huge_neg_exp.json": undefined,
  "i_number_huge_exp.json": "number_out_of_range",
  "i_number_neg_int_huge_exp.json": "number_out_of_range",
  "i_number_pos_double_huge_exp.json": "number_out_of_range",
  "i_number_real_neg_overflow.json": "number_out_of_range",
  "i_number_real_pos_overflow.json": "number_out_of_range",
  "i_number_real_underflow.json": undefined,
  "i_number_too_big_neg_int.json": undefined,
  "i_number_too_big_pos_int.json": undefined,
  "i_number_very_big_negative_int.json": undefined,
  "i_object_key_lone_2nd_surrogate.json": "lone_surrogate",
  "i_string_1st_surrogate_but_2nd_missing.json": "lone_surrogate",
  "i_string_1st_valid_surrogate_2nd_invalid.json": "lone_surrogate",
  "i_string_UTF-16LE_with_BOM.json": "unexpected_byte",
  "i_string_UTF-8_invalid_sequence.json": "invalid_utf8",
  "i_string_UTF8_surrogate_U+D800.json": "invalid_utf8",
  "i_string_incomplete_surrogate_and_escape_valid.json": "lone_surrogate",
  "i_string_incomplete_surrogate_pair.json": "lone_surrogate",
  "i_string_incomplete_surrogates_escape_valid.json": "lone_surrogate",
  "i_string_invalid_lonely_surrogate.json": "lone_surrogate",
  "i_string_invalid_surrogate.json": "lone_surrogate",
  "i_string_invalid_utf-8.json": "invalid_utf8",
  "i_string_inverted_surrogates_U+1D11E.json": "lone_surrogate",
  "i_string_iso_latin_1.json": "invalid_utf8",
  "i_string_lone_second_surrogate.json": "lone_surrogate",
  "i_string_lone_utf8_continuation_byte.json": "invalid_utf8",
  "i_string_not_in_unicode_range.json": "invalid_utf8",
  "i_string_overlong_sequence_2_bytes.json": "invalid_utf8",
  "i_string_overlong_sequence_6_bytes.json": "invalid_utf8",
  "i_string_overlong_sequence_6_bytes_null.json": "invalid_utf8",
  "i_string_truncated-utf-8.json": "invalid_utf8",
  "i_string_utf16BE_no_BOM.json": "unexpected_byte",
  "i_string_utf16LE_no_BOM.json": "unexpected_byte",
  "i_structure_500_nested_arrays.json": "too_deep",
  "i_structure_UTF-8_BOM_empty_object.json": "byte_order_mark",
};

describe("JSONTestSuite", () => {
  const absent = `${corpus} is not here`;

  it("parses what must parse, to what JSON.parse makes of it, but for duplicate keys", ({ skip }) => {
    skip(files.length === 0, absent);
    for (const file of named("y_")) {
      const result = parseStrictJson(read(file));
      if (file.startsWith("y_object_duplicated_key")) {
        expect(Either.getOrThrow(Either.flip(result)).code, file).toBe("duplicate_key");
      } else {
        expect(Either.getOrThrow(result), file).toEqual(mapped(JSON.parse(utf8.decode(read(file)))));
      }
    }
    expect(named("y_").length).toBe(95);
  });

  it("refuses what must not parse", ({ skip }) => {
    skip(files.length === 0, absent);
    for (const file of named("n_")) expect(Either.isLeft(parseStrictJson(read(file))), file).toBe(true);
    expect(named("n_").length).toBe(188);
  });

  it("chooses as listed where the choice is free", ({ skip }) => {
    skip(files.length === 0, absent);
    const chosen = named("i_").map((file) => [
      file,
      Either.getOrUndefined(Either.flip(parseStrictJson(read(file))))?.code,
    ]);
    expect(Object.fromEntries(chosen)).toEqual(choices);
  });
});
