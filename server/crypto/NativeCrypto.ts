/**
 * The crypto primitives over Node's own library: ten times as fast as the portable ones and, by the checks made here,
 * with the same verdict on every signature.
 */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hash,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import type { CryptoPrimitives } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";

/** DER of a SubjectPublicKeyInfo and of a PKCS #8 key, up to the 32 bytes of an Ed25519 key (RFC 8410 4, 7). */
const publicPrefix = Buffer.from("302a300506032b6570032100", "hex");
const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** The same of X25519 keys. */
const agreementPublicPrefix = Buffer.from("302a300506032b656e032100", "hex");
const agreementPrivatePrefix = Buffer.from("302e020100300506032b656e04220420", "hex");

/** The order of the base point, little-endian (RFC 8032 5.1). */
const order = Uint8Array.from(Buffer.from("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010", "hex"));

const keyBytes = 32;
const signatureBytes = 64;
/** Public keys kept ready: all members of a topology and as many again. */
const cachedKeys = 128;

/** Whether the scalar in the second half of a signature is below the order (RFC 8032 5.1.7, step 1). */
const isReduced = (signature: Uint8Array): boolean => {
  for (let index = keyBytes - 1; index >= 0; index--) {
    const difference = (signature[keyBytes + index] ?? 0) - (order[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
};

/** Whether the first half of a signature is the encoding of the identity. */
const isIdentityPoint = (signature: Uint8Array): boolean => {
  if (signature[0] !== 1) return false;
  for (let index = 1; index < keyBytes; index++) if (signature[index] !== 0) return false;
  return true;
};

const publicKeys = new RecentMap<KeyObject>(cachedKeys);

const publicKeyOf = (key: Uint8Array): KeyObject => {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  const name = bytes.toString("latin1");
  const known = publicKeys.get(name);
  if (known !== undefined) return known;
  const made = createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: "der", type: "spki" });
  publicKeys.set(name, made);
  return made;
};

/**
 * OpenSSL computes `R' = [S]B - [k]A` and compares the encoding of R' with the bytes of R. With A in the
 * prime-order subgroup so is R', and its encoding is canonical; what is left to refuse is the identity.
 */
const verifyEd25519 = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
  key.length === keyBytes &&
  signature.length === signatureBytes &&
  isReduced(signature) &&
  !isIdentityPoint(signature) &&
  verify(null, message, publicKeyOf(key), signature);

/** The block of SHA-256, and how long a message {@link hmacSha256Hex} computes by itself. */
const blockBytes = 64;
const shortMessage = 1024;
const inner = Buffer.alloc(blockBytes + shortMessage);
const outer = Buffer.alloc(blockBytes + 32);

/** HMAC (RFC 2104) of a short message as its two hashes, which take two thirds of the time of Node's object for it. */
const hmacSha256Hex = (key: Uint8Array, bytes: Uint8Array): string => {
  if (key.length > blockBytes || bytes.length > shortMessage)
    return createHmac("sha256", key).update(bytes).digest("hex");
  for (let at = 0; at < blockBytes; at++) {
    const byte = key[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  inner.set(bytes, blockBytes);
  outer.write(hash("sha256", inner.subarray(0, blockBytes + bytes.length), "hex"), blockBytes, "hex");
  const mac = hash("sha256", outer, "hex");
  // No copy of a key stays where it was not asked for.
  inner.fill(0, 0, blockBytes);
  outer.fill(0);
  return mac;
};

const agreementSecret = (secret: Uint8Array): KeyObject => {
  const der = Buffer.concat([agreementPrivatePrefix, secret]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return key;
};

/** The portable library first makes a table, for which reads would wait some 30 ms. */
const agreementKey = (secret: Uint8Array): Uint8Array =>
  createPublicKey(agreementSecret(secret))
    .export({ format: "der", type: "spki" })
    .subarray(agreementPublicPrefix.length);

const agree = (secret: Uint8Array, theirs: Uint8Array): Uint8Array | undefined => {
  try {
    const der = Buffer.concat([agreementPublicPrefix, theirs]);
    const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
    return diffieHellman({ privateKey: agreementSecret(secret), publicKey });
  } catch {
    // Nothing is shared with a key of small order.
    return undefined;
  }
};

export const nativePrimitives: CryptoPrimitives = {
  // A text made by Node costs a third of a Buffer made by Node and a text made of that.
  sha256Hex: (bytes) => hash("sha256", bytes, "hex"),
  hmacSha256Hex,
  shake128: (bytes, length) => createHash("shake128", { outputLength: length }).update(bytes).digest(),
  verifyEd25519,
  // Node accepts any 32 bytes as a key, so both backends judge keys by the same function.
  isEd25519Key: noblePrimitives.isEd25519Key,
  agreementKey,
  agree,
};

/** An Ed25519 private key from its 32-byte seed (RFC 8032 5.1.5), ready to sign. */
export interface NativeSigningKey {
  readonly publicKey: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** @throws RangeError for a seed that is not 32 bytes long */
export const nativeSigningKey = (seed: Uint8Array): NativeSigningKey => {
  if (seed.length !== keyBytes) throw new RangeError("an Ed25519 seed has 32 bytes");
  const der = Buffer.concat([privatePrefix, seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(publicPrefix.length);
  return { publicKey, sign: (message) => sign(null, message, privateKey) };
};
