import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SecretSearch } from "./SecretSearch.ts";

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((each) => new Set(each).size >= 8);
const around = fc.uint8Array({ maxLength: 100 });

/** Whoever writes a secret down writes it in one of these ways. */
const ways: ReadonlyArray<readonly [string, (secret: Buffer, before: Buffer, after: Buffer) => Buffer | string]> = [
  ["bytes", (secret, before, after) => Buffer.concat([before, secret, after])],
  ["bytes, the last first", (secret, before) => Buffer.concat([before, Buffer.from(secret.toReversed())])],
  ["digits", (secret, before) => Buffer.concat([before, secret]).toString("hex")],
  ["capital digits", (secret, before) => Buffer.concat([before, secret]).toString("hex").toUpperCase()],
  ["a number's digits", (secret) => `{"share":"${Buffer.from(secret.toReversed()).toString("hex")}"}`],
  ["Base64", (secret, before, after) => Buffer.concat([before, secret, after]).toString("base64")],
  ["Base64url", (secret, before, after) => Buffer.concat([before, secret, after]).toString("base64url")],
  ["JSON of a Uint8Array's numbers", (secret, before) => JSON.stringify([...before, ...secret])],
];

describe("a search for secrets in every form", () => {
  it.each(ways)("finds one that is written as %s", (_, write) => {
    fc.assert(
      fc.property(
        fc.array(bytes, { minLength: 1, maxLength: 20 }),
        fc.nat(),
        around,
        around,
        (all, at, before, after) => {
          const secret = Buffer.from(all[at % all.length] ?? []);
          const hay = write(secret, Buffer.from(before), Buffer.from(after));
          const found = new SecretSearch(all).findIn(hay);
          expect(Buffer.from(all[found?.index ?? -1] ?? []).equals(secret)).toBe(true);
        },
      ),
      { seed: 1, numRuns: 20 },
    );
  });

  it("finds none in other bytes, nor one of which the last byte differs", () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 20 }), bytes, (all, other) => {
        fc.pre(all.every((each) => !Buffer.from(each).equals(Buffer.from(other))));
        const search = new SecretSearch(all);
        for (const [, write] of ways)
          expect(search.findIn(write(Buffer.from(other), Buffer.alloc(0), Buffer.alloc(0)))).toBeUndefined();
        for (const each of all)
          expect(
            search.findIn(Buffer.concat([each.subarray(0, 31), Uint8Array.of((each[31] ?? 0) ^ 1)])),
          ).toBeUndefined();
      }),
      { seed: 1, numRuns: 20 },
    );
  });

  it("takes nothing for a secret that would be found by chance", () => {
    expect(() => new SecretSearch([new Uint8Array(32).fill(7)])).toThrow(RangeError);
  });
});
