import { randomBytes } from "node:crypto";
import { Either } from "effect";
import { beforeAll, describe, expect, it } from "vitest";
import type { KeyMaterial, UnsealSession } from "./SealProvider.ts";
import { sealKeys, shamirProvider } from "./ShamirSeal.ts";

const entropy = (length: number): Uint8Array => randomBytes(length);
const material: KeyMaterial = { identitySeed: randomBytes(32), integritySeed: randomBytes(32) };
const provider = shamirProvider({ shares: 5, threshold: 3 }, entropy);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const flipped = (share64: string, index: number): string => {
  const bytes = Buffer.from(share64, "base64");
  bytes[index] = (bytes[index] ?? 0) ^ 0x01;
  return bytes.toString("base64");
};

let vault: Uint8Array;
let shares: ReadonlyArray<string>;
let a: string;
let b: string;
let c: string;
let foreign: string;

beforeAll(async () => {
  const sealed = await provider.seal(material, provider.sharing);
  vault = sealed.vault;
  shares = sealed.shares.map(base64);
  [a = "", b = "", c = ""] = shares;
  foreign = base64((await provider.seal(material, provider.sharing)).shares[0] ?? new Uint8Array());
});

const session = (): UnsealSession => Either.getOrThrow(provider.unseal(vault));
const collecting = (have: number, repeated = false) =>
  Either.right({ _tag: "Collecting", progress: { have, need: 3 }, repeated });
const unsealed = Either.right({
  _tag: "Unsealed",
  material: {
    identitySeed: Uint8Array.from(material.identitySeed),
    integritySeed: Uint8Array.from(material.integritySeed),
  },
});
const faulty = async (open: UnsealSession, share64: string) => {
  const { code, progress } = Either.getOrThrow(Either.flip(await open.submit(share64)));
  return [code, progress.have];
};

describe("unsealing", () => {
  it("takes any three of five shares, in any order", async () => {
    expect(new Set(shares).size).toBe(5);
    for (const first of shares) {
      for (const second of shares) {
        for (const third of shares) {
          if (new Set([first, second, third]).size < 3) continue;
          const open = session();
          expect(await open.submit(first)).toEqual(collecting(1));
          expect(await open.submit(second)).toEqual(collecting(2));
          expect(await open.submit(third)).toEqual(unsealed);
        }
      }
    }
  });

  it("does not count a share twice", async () => {
    const open = session();
    expect(open.progress()).toEqual({ have: 0, need: 3 });
    expect(await open.submit(a)).toEqual(collecting(1));
    expect(await open.submit(a)).toEqual(collecting(1, true));
    expect(await open.submit(b)).toEqual(collecting(2));
    expect(await open.submit(a)).toEqual(collecting(2, true));
    expect(await open.submit(c)).toEqual(unsealed);
  });

  it("finds a wrong share by decryption and begins anew", async () => {
    const open = session();
    await open.submit(a);
    await open.submit(flipped(b, 20));
    expect(await faulty(open, c)).toEqual(["WRONG_SHARES", 0]);
    expect(await open.submit(a)).toEqual(collecting(1));
    await open.submit(b);
    expect(await open.submit(c)).toEqual(unsealed);
  });

  it("finds two shares of one coordinate that differ, and begins anew", async () => {
    const open = session();
    await open.submit(a);
    expect(await faulty(open, flipped(a, 20))).toEqual(["WRONG_SHARES", 0]);
  });

  it("refuses a share of another init by name and keeps what it has", async () => {
    const open = session();
    await open.submit(a);
    await open.submit(b);
    expect(await faulty(open, foreign)).toEqual(["FOREIGN_SHARE", 2]);
    expect(await open.submit(c)).toEqual(unsealed);
  });

  it("refuses what is no share and keeps what it has", async () => {
    const open = session();
    await open.submit(a);
    const zero = Buffer.from(a, "base64");
    zero[zero.length - 1] = 0;
    const malformed = [
      "",
      "x",
      a.slice(0, -1),
      `${a}A`,
      ` ${a}`,
      `${a}\n`,
      a.replaceAll("=", ""),
      `${a.slice(0, -4)}????`,
      // The same bytes in another spelling: bits that no byte uses.
      a.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`),
      flipped(a, 0),
      zero.toString("base64"),
      "A".repeat(68),
      "A".repeat(1_000_000),
    ];
    for (const share64 of malformed) expect(await faulty(open, share64)).toEqual(["MALFORMED_SHARE", 1]);
  });

  it("judges shares that arrive at once one after the other", async () => {
    const open = session();
    const steps = await Promise.all([a, b, a, c, shares[3] ?? ""].map((share64) => open.submit(share64)));
    expect(steps.slice(0, 4)).toEqual([collecting(1), collecting(2), collecting(2, true), unsealed]);
    expect(steps[4]).toMatchObject({ left: { code: "SESSION_CLOSED" } });
  });

  it("takes nothing after it was closed", async () => {
    const open = session();
    await open.submit(a);
    open.close();
    expect(open.progress()).toEqual({ have: 0, need: 3 });
    expect(await faulty(open, b)).toEqual(["SESSION_CLOSED", 0]);
  });

  it("gives no keys when it is closed while the last share is judged", async () => {
    const open = session();
    await open.submit(a);
    await open.submit(b);
    const last = open.submit(c);
    open.close();
    expect(Either.isLeft(await last)).toBe(true);
  });

  it("refuses bytes that are no vault", () => {
    expect(Either.isLeft(provider.unseal(new Uint8Array(0)))).toBe(true);
    expect(Either.isLeft(provider.unseal(vault.slice(1)))).toBe(true);
  });

  it("never quotes a share in a fault", async () => {
    const open = session();
    await open.submit(flipped(a, 20));
    await open.submit(b);
    for (const share64 of [c, "secret-text", foreign]) {
      const result = await open.submit(share64);
      expect(JSON.stringify(result)).not.toContain(share64);
    }
  });
});

describe("sealing", () => {
  it("leaves the caller's seeds alone and repeats nothing", async () => {
    const again = await provider.seal(material, provider.sharing);
    expect(material.identitySeed.some((byte) => byte !== 0)).toBe(true);
    expect(base64(again.vault)).not.toBe(base64(vault));
    expect(again.shares.map(base64).filter((share64) => shares.includes(share64))).toEqual([]);
  });

  it.each([
    [2, 2],
    [3, 2],
    [255, 255],
  ])("works with %i shares of which %i unseal", async (total, threshold) => {
    const sealed = await sealKeys(material, { shares: total, threshold }, entropy);
    expect(sealed.shares).toHaveLength(total);
    const open = Either.getOrThrow(provider.unseal(sealed.vault));
    for (const share of sealed.shares.slice(0, threshold - 1)) await open.submit(base64(share));
    expect(open.progress()).toEqual({ have: threshold - 1, need: threshold });
    expect(await open.submit(base64(sealed.shares.at(-1) ?? new Uint8Array()))).toEqual(unsealed);
  });

  it.each([
    [1, 1],
    [2, 1],
    [2, 3],
    [256, 2],
  ])("refuses %i shares of which %i unseal", async (total, threshold) => {
    await expect(sealKeys(material, { shares: total, threshold }, entropy)).rejects.toThrow(Error);
  });
});
