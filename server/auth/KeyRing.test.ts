import { generateKeyPairSync } from "node:crypto";
import { Either } from "effect";
import { beforeEach, describe, expect, it } from "vitest";
import { KeyRing, type KeySet } from "./KeyRing.ts";

const documentOf = (kid: string): Uint8Array => {
  const { publicKey } = generateKeyPairSync("ed25519");
  return new TextEncoder().encode(JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid }] }));
};

const [first, second] = [documentOf("first"), documentOf("second")];
const hour = 3_600_000;

let clock: number;
let fetches: number;
let reports: Array<string>;
let published: Either.Either<Uint8Array, string>;
let ring: KeyRing;

beforeEach(() => {
  clock = 0;
  fetches = 0;
  reports = [];
  published = Either.right(first);
  ring = ringOf(24 * hour);
});

const ringOf = (maxAgeMillis: number): KeyRing =>
  new KeyRing({
    source: () => {
      fetches += 1;
      return Promise.resolve(published);
    },
    maxAgeMillis,
    elapsedMillis: () => clock,
    report: (fault) => {
      reports.push(fault);
    },
  });

const current = async (): Promise<KeySet> => {
  const set = await ring.current();
  if (set === undefined) throw new Error("there are no keys");
  return set;
};

/** Lets a renewal in the background come to its end. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe("KeyRing", () => {
  it("fetches once for everybody who asks at the same time", async () => {
    const sets = await Promise.all(Array.from({ length: 64 }, () => ring.current()));
    expect(fetches).toBe(1);
    expect(new Set(sets).size).toBe(1);
  });

  it("fetches once for all tokens with unknown keys, and finds a rotated key", async () => {
    const before = await current();
    published = Either.right(second);
    const found = await Promise.all(Array.from({ length: 64 }, () => ring.newerThan(before)));
    expect(fetches).toBe(2);
    expect(new Set(found.map((set) => set?.generation))).toEqual(new Set([before.generation + 1]));
  });

  it("refetches for unknown keys at most once in 30 s, failures counted", async () => {
    const set = await current();
    published = Either.left("answered with status 500; check the issuer");
    expect(await ring.newerThan(set)).toBeUndefined();
    expect(fetches).toBe(2);
    clock = 29_999;
    expect(await ring.newerThan(set)).toBeUndefined();
    expect(fetches).toBe(2);
    clock = 30_000;
    expect(await ring.newerThan(set)).toBeUndefined();
    expect(fetches).toBe(3);
    expect(reports).toHaveLength(2);
    expect(await ring.current()).toBe(set);
  });

  it("gives the newer keys to whoever still holds older ones, without a fetch", async () => {
    const before = await current();
    published = Either.right(second);
    const newer = await ring.newerThan(before);
    expect(await ring.newerThan(before)).toBe(newer);
    expect(fetches).toBe(2);
  });

  it("keeps the generation when the same document comes again", async () => {
    const before = await current();
    expect(await ring.newerThan(before)).toBeUndefined();
    expect((await current()).generation).toBe(before.generation);
  });

  it("renews in the background after ten minutes, so that a removed key stops counting", async () => {
    const before = await current();
    published = Either.right(second);
    clock = 599_999;
    expect(await ring.current()).toBe(before);
    expect(fetches).toBe(1);
    clock = 600_000;
    expect(await ring.current()).toBe(before);
    await settled();
    expect((await current()).generation).toBe(before.generation + 1);
    expect(fetches).toBe(2);
  });

  it("renews a set that serves for a minute before it is too old", async () => {
    ring = ringOf(60_000);
    await current();
    clock = 29_999;
    await current();
    expect(fetches).toBe(1);
    for (clock = 30_000; clock < 300_000; clock += 10_000) {
      expect(ring.usable).toBeDefined();
      await settled();
    }
    expect(fetches).toBe(10);
  });

  it("waits for the keys where a set became too old while nobody asked", async () => {
    const set = await current();
    clock = 24 * hour;
    // As the look at remembered tokens does, before that for the keys.
    expect(ring.usable).toBeUndefined();
    expect((await current()).generation).toBe(set.generation);
    expect(fetches).toBe(2);
    clock = 48 * hour;
    published = Either.left("gave no answer");
    expect(await ring.current()).toBeUndefined();
    expect(fetches).toBe(3);
  });

  it("serves the last good keys for a day of failures and not a millisecond longer", async () => {
    const set = await current();
    published = Either.right(new TextEncoder().encode("{}"));
    clock = 24 * hour - 1;
    expect(await ring.current()).toBe(set);
    await settled();
    expect(reports).toEqual(["has no list of keys; publish a JSON Web Key Set"]);
    clock = 24 * hour;
    expect(await ring.current()).toBeUndefined();
  });

  it("counts the age of unchanged keys from their last fetch", async () => {
    const set = await current();
    clock = 20 * hour;
    await ring.newerThan(set);
    clock = 40 * hour;
    expect((await current()).generation).toBe(set.generation);
  });

  it("tries every five seconds while it has no keys", async () => {
    published = Either.left("gave no answer");
    expect(await ring.load()).toBe("gave no answer");
    clock = 4999;
    expect(await ring.current()).toBeUndefined();
    expect(fetches).toBe(1);
    clock = 5000;
    published = Either.right(first);
    // In the background: nobody waits for an issuer that has not answered before.
    expect(await ring.current()).toBeUndefined();
    await settled();
    expect(await ring.current()).toBeDefined();
    expect(fetches).toBe(2);
  });
});
