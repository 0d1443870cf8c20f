import { describe, expect, it } from "vitest";
import type { Digest, PublicKey, Signature } from "../core/base/Digest.ts";
import { crypto } from "../properties/cluster/Crypto.ts";
import { type Proven, ProvenSeals } from "./ProvenSeals.ts";

const secret = new Uint8Array(32).fill(7);

const signed = (transaction: number, change: Partial<Proven> = {}): Proven => ({
  key: "0a".repeat(32) as PublicKey,
  transaction,
  size: 12,
  root: String(transaction).padStart(64, "0") as Digest,
  signature: String(transaction).padStart(128, "0") as Signature,
  ...change,
});

/** More than are kept without a hash. */
const MANY = 3_000;

describe("the signatures that a verification has found valid", () => {
  it("are all remembered under a key, however long ago they were found", () => {
    const proven = new ProvenSeals(crypto, secret);
    for (let transaction = 1; transaction <= MANY; transaction++) {
      expect(proven.has(signed(transaction))).toBe(false);
      proven.add(signed(transaction));
      expect(proven.has(signed(transaction))).toBe(true);
    }
    for (let transaction = 1; transaction <= MANY; transaction++) expect(proven.has(signed(transaction))).toBe(true);
    expect(proven.has(signed(MANY + 1))).toBe(false);
  });

  it("are not mistaken for others of the same transaction, of late or of long ago", () => {
    const proven = new ProvenSeals(crypto, secret);
    for (let transaction = 1; transaction <= MANY; transaction++) proven.add(signed(transaction));
    for (const transaction of [1, MANY]) {
      const others: ReadonlyArray<Partial<Proven>> = [
        { key: "0b".repeat(32) as PublicKey },
        { transaction: transaction + 1 },
        { size: 13 },
        { root: "ff".repeat(32) as Digest },
        { signature: "ff".repeat(64) as Signature },
      ];
      for (const other of others) expect(proven.has(signed(transaction, other))).toBe(false);
      expect(proven.has(signed(transaction))).toBe(true);
    }
  });

  it("are remembered for a while without a key", () => {
    const proven = new ProvenSeals(crypto);
    expect(proven.has(signed(1))).toBe(false);
    proven.add(signed(1));
    expect([proven.has(signed(1)), proven.has(signed(1, { size: 13 })), proven.has(signed(2))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
