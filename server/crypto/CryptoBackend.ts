/** The two libraries a peer may compute with. All peers of a cluster use the same one: it is in the configuration digest. */
import { hkdfSync } from "node:crypto";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { KeyCrypto, ShareVault } from "../../core/threshold/Suite.ts";
import { installedProviders, type SignatureProvider } from "../../core/credential/SignatureProvider.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import type { PublicKey } from "../../core/base/Digest.ts";
import { type Ceremony, ceremonyWith } from "../../core/webauthn/Ceremony.ts";
import type { CeremonyCrypto } from "../../core/webauthn/CeremonyCrypto.ts";
import { type CryptoPrimitives, cryptoOf, signerOf } from "../../runtime/CryptoPrimitives.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { noblePrimitives, nobleSigning } from "../../runtime/NobleCrypto.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { shareVault } from "../../runtime/threshold/ShareVault.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { type KeyWrap, keyWrap } from "../seal/KeyWrap.ts";
import type { KeyMaterial } from "../seal/SealProvider.ts";
import { nativeCeremonyCrypto } from "./NativeCeremonyCrypto.ts";
import { nativePrimitives, nativeSigningKey, type NativeSigningKey } from "./NativeCrypto.ts";
import { nativeProviders } from "./NativeProviders.ts";
import { nativeKeyCrypto } from "./SodiumScheme.ts";
import { OwnSignatures } from "./OwnSignatures.ts";

/** The private keys of a peer, ready to use. */
export interface PeerKeys {
  readonly identity: Signer;
  /** The first integrity key; later ones are stored. */
  readonly integrity: IntegrityKey;
  /** Makes an integrity key of its 32-byte seed, which may be overwritten afterwards. */
  readonly integrityKeyOf: (seed: Uint8Array) => IntegrityKey;
  /** Encrypts those that are stored, and decrypts them. */
  readonly later: KeyWrap;
  /** Encrypts this peer's shares of the cluster's keys, and decrypts them. */
  readonly shareVault: ShareVault;
}

export interface CryptoBackend {
  readonly crypto: Crypto;
  /** The signature algorithms approvers may use: the same verdict about every key, whichever backend checks it. */
  readonly providers: ReadonlyMap<string, SignatureProvider>;
  /** Verifies a registration ceremony. */
  readonly ceremony: Ceremony;
  /** What the cluster's keys are made and used with. */
  readonly keyCrypto: KeyCrypto;
  /** Makes keys of two 32-byte seeds, which may be overwritten afterwards. */
  readonly keysOf: (material: KeyMaterial) => PeerKeys;
}

const SHARE_KEY_INFO = utf8ToBytes("CUSTODY_SHARE_KEY_V1");
const SET_KEY_INFO = utf8ToBytes("CUSTODY_ROW_SET_KEY_V1");

/**
 * HKDF-SHA256 (RFC 5869) of the identity seed, so it stays when integrity keys rotate, and none of them gives it away:
 * an old one does not let its owner make up rows that add up (docs/decisions/0020-integrity-key-history.md).
 */
const setKeyOf = (identitySeed: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", identitySeed, new Uint8Array(0), SET_KEY_INFO, 32));

/** The same for shares: new unseal shares leave the identity seed as it is, and with it what is encrypted for it. */
const shareKeyOf = (identitySeed: Uint8Array): Secret =>
  new Secret(new Uint8Array(hkdfSync("sha256", identitySeed, new Uint8Array(0), SHARE_KEY_INFO, 32)));

// The brand is the length: an Ed25519 public key has 32 bytes.
const asPublicKey = (bytes: Uint8Array): PublicKey => bytesToHex(bytes) as PublicKey;

/** A private key ready to sign, in the library that holds it. */
type SigningKey = (seed: Uint8Array) => NativeSigningKey;

const portableSigningKey: SigningKey = (seed) => {
  const own = Uint8Array.from(seed);
  return { publicKey: nobleSigning.publicKeyOf(own), sign: (message) => nobleSigning.sign(own, message) };
};

const backendOf = (
  primitives: CryptoPrimitives,
  providers: CryptoBackend["providers"],
  ceremony: CeremonyCrypto,
  signingKey: SigningKey,
  keyCrypto: KeyCrypto,
): CryptoBackend => {
  const own = new OwnSignatures(primitives);
  const signer = (seed: Uint8Array): Signer => {
    const { publicKey, sign } = signingKey(seed);
    return signerOf(asPublicKey(publicKey), (message) => {
      const signature = sign(message);
      own.remember(publicKey, message, signature);
      return signature;
    });
  };
  return {
    crypto: cryptoOf(own.primitives),
    providers,
    ceremony: ceremonyWith(ceremony),
    keyCrypto,
    keysOf: ({ identitySeed, integritySeed }) => {
      const setKey = setKeyOf(identitySeed);
      const integrityKeyOf = (seed: Uint8Array): IntegrityKey => ({ ...signer(seed), setKey });
      return {
        identity: signer(identitySeed),
        integrity: integrityKeyOf(integritySeed),
        integrityKeyOf,
        later: keyWrap(identitySeed),
        shareVault: shareVault(shareKeyOf(identitySeed)),
      };
    },
  };
};

/** The backend a configuration asks for (`crypto.backend`). */
export const cryptoBackend = (name: Config["crypto"]["backend"]): CryptoBackend =>
  name === "native"
    ? backendOf(nativePrimitives, nativeProviders, nativeCeremonyCrypto, nativeSigningKey, nativeKeyCrypto)
    : backendOf(noblePrimitives, installedProviders, nobleCeremonyCrypto, portableSigningKey, nobleKeyCrypto);
