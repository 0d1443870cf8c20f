/** The two libraries a peer may compute with. All peers of a cluster use the same one: it is in the configuration digest. */
import { hkdfSync } from "node:crypto";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Crypto, Signer } from "../../core/Crypto.ts";
import type { PublicKey } from "../../core/Digest.ts";
import { cryptoOf, signerOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives, nobleSigning } from "../../runtime/NobleCrypto.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { KeyMaterial } from "../seal/SealProvider.ts";
import { nativePrimitives, nativeSigningKey } from "./NativeCrypto.ts";

/** The private keys of a peer, ready to use. */
export interface PeerKeys {
  readonly identity: Signer;
  readonly integrity: IntegrityKey;
}

export interface CryptoBackend {
  readonly crypto: Crypto;
  /** Makes keys of two 32-byte seeds; the seeds may be overwritten afterwards. */
  readonly keysOf: (material: KeyMaterial) => PeerKeys;
}

const SET_KEY_INFO = utf8ToBytes("CUSTODY_ROW_SET_KEY_V1");

/** HKDF-SHA256 (RFC 5869) with a label of its own: whoever learns a signature learns nothing about it. */
const setKeyOf = (integritySeed: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", integritySeed, new Uint8Array(0), SET_KEY_INFO, 32));

// The brand is the length: an Ed25519 public key has 32 bytes.
const asPublicKey = (bytes: Uint8Array): PublicKey => bytesToHex(bytes) as PublicKey;

const nativeSigner = (seed: Uint8Array): Signer => {
  const { publicKey, sign } = nativeSigningKey(seed);
  return signerOf(asPublicKey(publicKey), sign);
};

const portableSigner = (seed: Uint8Array): Signer => {
  const own = Uint8Array.from(seed);
  return signerOf(asPublicKey(nobleSigning.publicKeyOf(own)), (message) => nobleSigning.sign(own, message));
};

const backendOf = (crypto: Crypto, signer: (seed: Uint8Array) => Signer): CryptoBackend => ({
  crypto,
  keysOf: ({ identitySeed, integritySeed }) => ({
    identity: signer(identitySeed),
    integrity: { ...signer(integritySeed), setKey: setKeyOf(integritySeed) },
  }),
});

/** The backend a configuration asks for (`crypto.backend`). */
export const cryptoBackend = (name: Config["crypto"]["backend"]): CryptoBackend =>
  name === "native"
    ? backendOf(cryptoOf(nativePrimitives), nativeSigner)
    : backendOf(cryptoOf(noblePrimitives), portableSigner);
