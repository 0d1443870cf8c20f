import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Effect } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openCopy } from "../backup/CopyStore.ts";
import { phrases } from "./Phrases.ts";
import { formOf, rowOf } from "./RowForm.ts";

const KEPT = fileURLToPath(new URL("../../properties/kept/2/custody.db", import.meta.url));
const KEY = "ab".repeat(32);

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
const text = (row: Uint8Array): string => Buffer.from(row).toString("latin1");

/** What rows are made of: noise, phrases, digits, repetitions. */
const part = fc.oneof(
  fc.uint8Array({ maxLength: 80 }),
  fc.nat(phrases.length).chain((from) => fc.nat(60).map((size) => phrases.slice(from, from + size))),
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefg"), maxLength: 200 }).map(bytes),
  fc.nat(400).map((size) => new Uint8Array(size).fill(7)),
);
const row = fc.array(part, { maxLength: 40 }).map((parts) => Uint8Array.from(Buffer.concat(parts)));
const key = fc.oneof(fc.constant(KEY), fc.constant(""), fc.string({ unit: "grapheme-ascii", maxLength: 100 }));

describe("the form of a row", () => {
  it("rests on phrases that never change", () => {
    expect(createHash("sha256").update(phrases).digest("hex")).toBe(
      "2a3f7374e5b33045071f09fd754e9a98da1563ccd1e6f09de74742e4027e3d9f",
    );
    // Written once: any program that knows these phrases reads it so.
    const given = "REGISTER key of it 00112233445566778899 REGISTER key of it, as it is";
    const written = "010044c16e0020d2fd002049001122334455667788990020f30607032c2061738315016973";
    expect(Buffer.from(formOf("key of it", bytes(given))).toString("hex")).toBe(written);
    expect(text(rowOf("key of it", Buffer.from(written, "hex")))).toBe(given);
  });

  it("gives back the row, and is at most a byte longer", () => {
    fc.assert(
      fc.property(key, row, (under, given) => {
        const form = formOf(under, given);
        expect(form.length).toBeLessThanOrEqual(given.length + 1);
        expect(Buffer.compare(rowOf(under, form), given)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on the row before it", () => {
    const given = bytes("REGISTER with some more of it: aaaaaaaaaaaaaaaaaa, 0123456789abcdef0123");
    const form = formOf(KEY, given);
    formOf("", new Uint8Array(16_384).fill(0x61));
    expect(formOf(KEY, given)).toEqual(form);
  });

  it("takes two thirds of rows as they are, and less of each kind that is many", () => {
    const sizes = Effect.gen(function* () {
      const { bytes: store } = yield* openCopy(KEPT);
      return (["certificates", "approvers", "slots", "audit"] as const).map((table) => {
        const rows = store.scan(table, "", 64);
        const size = (of: (at: (typeof rows)[number]) => number) => rows.reduce((sum, each) => sum + of(each), 0);
        return size((each) => formOf(each.key, each.value.row).length) / size((each) => each.value.row.length);
      });
    }).pipe(Effect.scoped, Effect.runSync);
    const [certificates = 1, approvers = 1, slots = 1, audit = 1] = sizes;
    expect(certificates).toBeLessThan(0.75);
    expect(approvers).toBeLessThan(0.65);
    expect(slots).toBeLessThan(0.9);
    expect(audit).toBeLessThan(0.75);
  });

  it("leaves rows as they are that are longer than any it looks through", () => {
    const long = new Uint8Array(16_385);
    expect(formOf(KEY, long).length).toBe(16_386);
    expect(rowOf(KEY, formOf(KEY, long))).toEqual(long);
    const longest = new Uint8Array(16_384);
    expect(formOf(KEY, longest).length).toBeLessThan(300);
    expect(rowOf(KEY, formOf(KEY, longest))).toEqual(longest);
    expect(rowOf("k".repeat(600), formOf("k".repeat(600), longest))).toEqual(longest);
  });
});

describe("what is no form of a row", () => {
  /** A form: edition, length of the row, parts. */
  const form = (size: number, ...parts: ReadonlyArray<number>) => Uint8Array.of(1, size >> 8, size & 0xff, ...parts);
  const nothing = new Uint8Array();

  it.each([
    ["empty", Uint8Array.of()],
    ["of phrases that are not known", Uint8Array.of(2, 0, 1, 0, 7)],
    ["without its length", Uint8Array.of(1, 0)],
    ["of a row that is longer than any", form(16_385, 0, 7)],
    [
      "of the longest row there could be said to be",
      form(65_535, ...Array.from({ length: 300 }, () => [0xff, 0, 0xff]).flat()),
    ],
    ["short of its row", form(2, 0, 7)],
    ["longer than its row", form(1, 1, 7, 7)],
    ["cut off in bytes as they are", form(2, 1, 7)],
    ["with more digits than its row", form(3, 65, 0x12, 0x34)],
    ["cut off in digits", form(4, 65, 0x12)],
    ["cut off before a place", form(4, 0x80)],
    ["cut off before a length", form(11, 0xf0, 0)],
    ["with a match that is longer than its row", form(3, 0x80, 0)],
    ["of a place that is not there yet", form(8, 0x8f, 0xff, 0x80, 0)],
  ])("is a row of no bytes: %s", (_, damaged) => {
    expect(rowOf("", damaged)).toEqual(nothing);
  });

  it("is never longer than a row may be, and never throws", () => {
    const edition = fc.uint8Array({ maxLength: 400 }).map((rest) => Uint8Array.of(1, 0x3f, ...rest));
    fc.assert(
      fc.property(fc.oneof(edition, fc.uint8Array({ maxLength: 400 })), key, (damaged, under) => {
        expect(rowOf(under, damaged).length).toBeLessThanOrEqual(Math.max(16_384, damaged.length));
      }),
      { numRuns: 2_000 },
    );
  });

  it("is no row of another key, and shows nothing of a row that was read before", () => {
    const secret = "what was in a row that was read before it";
    const other = formOf("x", bytes(secret));
    rowOf("x", other);
    for (let at = 0; at < 4096; at++) {
      const shown = rowOf("", form(4, 0x80 | (at >> 8), at & 0xff));
      if (shown.length > 0) expect(at).toBeLessThan(phrases.length);
      expect(secret.includes(text(shown)) && shown.length > 0 && !text(phrases).includes(text(shown))).toBe(false);
    }
  });
});
