/**
 * The encrypted form of a peer's private keys, version 1:
 *
 *     version 1 | vault id 16 | shares 1 | threshold 1 | nonce 24 | ciphertext 64 | tag 16
 *
 * XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) over identity seed and integrity
 * seed, with everything before the ciphertext authenticated. The key comes from
 * the root key by HKDF-SHA256 (RFC 5869), salted with the vault id.
 */
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import type { KeyMaterial } from "./SealProvider.ts";

const version = 1;
export const vaultIdBytes = 16;
export const rootKeyBytes = 32;
const nonceBytes = 24;
const tagBytes = 16;
const seedBytes = 32;

const sharesAt = 1 + vaultIdBytes;
const thresholdAt = sharesAt + 1;
const nonceAt = thresholdAt + 1;
const ciphertextAt = nonceAt + nonceBytes;
const vaultBytes = ciphertextAt + 2 * seedBytes + tagBytes;

const keyInfo = utf8ToBytes("CUSTODY_SEAL_V1");

/** A vault of the right form; only the root key shows whether its content is right. */
export interface Vault {
  readonly bytes: Uint8Array;
  readonly id: Uint8Array;
  readonly shares: number;
  readonly threshold: number;
}

const withKey = <A>(rootKey: Uint8Array, id: Uint8Array, use: (key: Uint8Array) => A): A => {
  const key = hkdf(sha256, rootKey, id, keyInfo, 32);
  try {
    return use(key);
  } finally {
    key.fill(0);
  }
};

/** The inputs for sealing a vault: id and nonce are public, the root key is not kept. */
export interface VaultParameters {
  readonly id: Uint8Array;
  readonly nonce: Uint8Array;
  readonly rootKey: Uint8Array;
  readonly shares: number;
  readonly threshold: number;
}

/**
 * Encrypts key material.
 *
 * @throws RangeError for an id, nonce, key or seed of another length than the
 *   format has: a fault of the caller, never of input
 */
export const sealVault = (material: KeyMaterial, parameters: VaultParameters): Uint8Array => {
  const { id, nonce, rootKey, shares, threshold } = parameters;
  const { identitySeed, integritySeed } = material;
  if (id.length !== vaultIdBytes || nonce.length !== nonceBytes || rootKey.length !== rootKeyBytes) {
    throw new RangeError("id, nonce or root key has the wrong length");
  }
  if (identitySeed.length !== seedBytes || integritySeed.length !== seedBytes) {
    throw new RangeError("a seed is not 32 bytes long");
  }
  const vault = new Uint8Array(vaultBytes);
  vault[0] = version;
  vault.set(id, 1);
  vault[sharesAt] = shares;
  vault[thresholdAt] = threshold;
  vault.set(nonce, nonceAt);
  const plaintext = new Uint8Array(2 * seedBytes);
  plaintext.set(identitySeed);
  plaintext.set(integritySeed, seedBytes);
  const header = vault.slice(0, ciphertextAt);
  vault.set(
    withKey(rootKey, id, (key) => xchacha20poly1305(key, nonce, header).encrypt(plaintext)),
    ciphertextAt,
  );
  plaintext.fill(0);
  return vault;
};

/** Reads the form of a stored vault. Left is "what is wrong; what to do". */
export const parseVault = (bytes: Uint8Array): Either.Either<Vault, string> => {
  if (bytes[0] !== version) return Either.left("the vault is of another version; run the version that wrote it");
  if (bytes.length !== vaultBytes) return Either.left("the vault is damaged; restore this peer from its backup");
  const [shares, threshold] = [bytes[sharesAt] ?? 0, bytes[thresholdAt] ?? 0];
  if (threshold < 2 || threshold > shares) {
    return Either.left("the vault is damaged; restore this peer from its backup");
  }
  // A copy: the caller's buffer may be reused, and a Buffer is not a plain array to every library.
  const own = Uint8Array.from(bytes);
  return Either.right({ bytes: own, id: own.slice(1, sharesAt), shares, threshold });
};

/** The key material, or undefined when the root key is not the right one or the vault was changed. */
export const openVault = (vault: Vault, rootKey: Uint8Array): KeyMaterial | undefined =>
  withKey(rootKey, vault.id, (key) => {
    const nonce = vault.bytes.slice(nonceAt, ciphertextAt);
    const header = vault.bytes.slice(0, ciphertextAt);
    let plaintext: Uint8Array;
    try {
      plaintext = xchacha20poly1305(key, nonce, header).decrypt(vault.bytes.slice(ciphertextAt));
    } catch {
      // The lengths are right, so the only failure left is that of the tag.
      return undefined;
    }
    const material = { identitySeed: plaintext.slice(0, seedBytes), integritySeed: plaintext.slice(seedBytes) };
    plaintext.fill(0);
    return material;
  });
