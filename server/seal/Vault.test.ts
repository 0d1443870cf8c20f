import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { openVault, parseVault, sealVault, type VaultParameters } from "./Vault.ts";

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);

const material = { identitySeed: filled(32, 0xaa), integritySeed: filled(32, 0xbb) };
const parameters: VaultParameters = {
  id: filled(16, 1),
  nonce: filled(24, 2),
  rootKey: filled(32, 3),
  shares: 5,
  threshold: 3,
};
const sealed = sealVault(material, parameters);
const open = (bytes: Uint8Array, rootKey = parameters.rootKey) =>
  Either.match(parseVault(bytes), { onLeft: () => undefined, onRight: (vault) => openVault(vault, rootKey) });

describe("a vault", () => {
  it("opens with its root key and with no other", () => {
    expect(open(sealed)).toEqual(material);
    expect(open(sealed, filled(32, 4))).toBeUndefined();
  });

  it("is these bytes for these inputs", () => {
    // Computed independently, from RFC 5869, RFC 8439 and the XChaCha draft.
    const header = "01010101010101010101010101010101010503020202020202020202020202020202020202020202020202";
    const ciphertext =
      "d9005d408ad3dc104390d279f2fb68773a0a3761d6fb30fd47dc6008dfa1cf75703562e51c456604a77e0703117b3a2b0d180cf98db972dc3a5788e70e2682db56149296a2abc0217984a2e6f307c31a";
    expect(Buffer.from(sealed).toString("hex")).toBe(header + ciphertext);
  });

  it("shows no byte of the seeds", () => {
    const hex = Buffer.from(sealed).toString("hex");
    expect(hex).not.toMatch(/(aa){4}|(bb){4}|(03){4}/);
  });

  it("does not open with any bit changed", () => {
    for (let index = 0; index < sealed.length; index += 1) {
      for (const bit of [1, 0x80]) {
        const changed = sealed.slice();
        changed[index] = (changed[index] ?? 0) ^ bit;
        expect(open(changed)).toBeUndefined();
      }
    }
  });

  it("does not open at any other length", () => {
    for (let length = 0; length < sealed.length; length += 1) expect(open(sealed.slice(0, length))).toBeUndefined();
    expect(open(Uint8Array.of(...sealed, 0))).toBeUndefined();
  });

  it("tells another version from damage", () => {
    const newer = sealed.slice();
    newer[0] = 2;
    expect(parseVault(newer)).toEqual(Either.left("the vault is of another version; run the version that wrote it"));
    const lowered = sealed.slice();
    lowered[18] = 1;
    expect(parseVault(lowered)).toEqual(Either.left("the vault is damaged; restore this peer from its backup"));
  });

  it("is not made from parts of the wrong length", () => {
    const short = filled(31, 0);
    expect(() => sealVault({ ...material, identitySeed: short }, parameters)).toThrow(RangeError);
    expect(() => sealVault({ ...material, integritySeed: filled(33, 0) }, parameters)).toThrow(RangeError);
    expect(() => sealVault(material, { ...parameters, rootKey: short })).toThrow(RangeError);
    expect(() => sealVault(material, { ...parameters, nonce: filled(12, 0) })).toThrow(RangeError);
    expect(() => sealVault(material, { ...parameters, id: filled(15, 0) })).toThrow(RangeError);
  });
});
