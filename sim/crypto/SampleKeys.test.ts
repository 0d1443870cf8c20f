import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import { commands } from "../../core/commands/Commands.ts";
import { Prng } from "../base/Prng.ts";
import { cryptographyOf, type SampleKey } from "./Cryptography.ts";

describe.each(["fast", "codec", "real"] as const)("sample keys of the %s tier", (tier) => {
  const { providers, sampleKey, twinOf, passkeyName } = cryptographyOf(tier, new Prng(1), commands);
  const normalOf = ({ algorithm }: SampleKey, key64: string): string | undefined => {
    const bytes = Either.getOrThrow(Encoding.decodeBase64(key64));
    const normal = providers.get(algorithm)?.normalize(bytes);
    return normal && Either.isRight(normal) ? Encoding.encodeBase64(normal.right) : undefined;
  };
  const numbers = Array.from({ length: 24 }, (_, index) => index + 1);
  const twins = numbers.flatMap((each) => twinOf(each) ?? []);

  it("are one key in every format", () => {
    for (const key of [...numbers.map(sampleKey), ...twins])
      for (const each of [key.submitted64, ...key.otherwise64]) expect(normalOf(key, each)).toBe(key.normal64);
  });

  it("have twins with the very same bytes, and names that tell them apart", () => {
    expect(twins.length).toBeGreaterThan(2);
    for (const number of numbers) {
      const twin = twinOf(number);
      if (twin === undefined) continue;
      const key = sampleKey(number);
      expect(twin.normal64).toBe(key.normal64);
      expect(twin.algorithm).not.toBe(key.algorithm);
      expect(key.name).toBe(passkeyName(number));
      expect(twin.name).not.toBe(key.name);
    }
    const names = [...numbers.map(sampleKey), ...twins].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
