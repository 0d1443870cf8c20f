/** What a world computes with: the stand-ins of bulk runs, or the real primitives. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either, Encoding } from "effect";
import { installedProviders, type SignatureProvider } from "../core/credential/SignatureProvider.ts";
import type { Crypto, Signer } from "../core/Crypto.ts";
import type { PublicKey } from "../core/Digest.ts";
import { cryptoOf, signerOf } from "../runtime/CryptoPrimitives.ts";
import { noblePrimitives, nobleSigning } from "../runtime/NobleCrypto.ts";
import type { IntegrityKey } from "../runtime/RowSeal.ts";
import { fastCrypto } from "./FastCrypto.ts";
import type { PeerDisk } from "./PeerDisk.ts";
import type { Prng } from "./Prng.ts";
import { SealedDisk } from "./SealedDisk.ts";
import { SimDisk } from "./SimDisk.ts";
import { byteWire, valueWire, type Wire } from "./Wire.ts";

/** The keys a peer gets when it is initialized. */
export interface PeerKeys {
  readonly identity: Signer;
  readonly integrity: IntegrityKey;
}

/** A key that callers register: as submitted, and as it must come out. */
export interface SampleKey {
  readonly algorithm: string;
  readonly submitted64: string;
  readonly normal64: string;
}

export interface Cryptography {
  readonly real: boolean;
  readonly crypto: Crypto;
  readonly wire: Wire;
  readonly providers: ReadonlyMap<string, SignatureProvider>;
  readonly newKeys: () => PeerKeys;
  /** The same number gives the same key, another number another key. */
  readonly sampleKey: (index: number) => SampleKey;
  readonly newDisk: (keys: () => PeerKeys | undefined, schedule: () => void, durable: () => void) => PeerDisk;
}

/** The algorithm of bulk runs: any 24 bytes are a key and its own normal form. */
const SIM_ALGORITHM = "SIM";
const SIM_KEY_BYTES = 24;

const simProvider: SignatureProvider = {
  algorithm: SIM_ALGORITHM,
  normalize: (encoded) =>
    encoded.length === SIM_KEY_BYTES ? Either.right(encoded) : Either.left("A SIM key has 24 bytes."),
};

/** Hexadecimal digits are Base64 characters too: 32 of them are 24 bytes. */
const simKey = (index: number): SampleKey => {
  const text = index.toString(16).padStart(32, "0");
  return { algorithm: SIM_ALGORITHM, submitted64: text, normal64: text };
};

/** Quick stand-ins; see docs/simulator.md for what they bypass. */
export const fastCryptography = (entropy: Prng): Cryptography => {
  const { crypto, newSigner } = fastCrypto(entropy);
  return {
    real: false,
    crypto,
    wire: valueWire,
    providers: new Map([[SIM_ALGORITHM, simProvider]]),
    newKeys: () => ({ identity: newSigner(), integrity: { ...newSigner(), setKey: new Uint8Array(0) } }),
    sampleKey: simKey,
    newDisk: (_keys, schedule, durable) => new SimDisk(schedule, durable),
  };
};

const realSigner = (seed: Uint8Array): Signer =>
  signerOf(bytesToHex(nobleSigning.publicKeyOf(seed)) as PublicKey, (message) => nobleSigning.sign(seed, message));

const seedOf = (index: number): Uint8Array => {
  const seed = new Uint8Array(32).fill(5);
  new DataView(seed.buffer).setUint32(0, index);
  return seed;
};

const realKey = (index: number): SampleKey => {
  const seed = seedOf(index);
  if (index % 2 === 0) {
    const key64 = Encoding.encodeBase64(ed25519.getPublicKey(seed));
    return { algorithm: "ED25519", submitted64: key64, normal64: key64 };
  }
  return {
    algorithm: "P256",
    submitted64: Encoding.encodeBase64(p256.getPublicKey(seed, false)),
    normal64: Encoding.encodeBase64(p256.getPublicKey(seed, true)),
  };
};

/** Ed25519, SHA-256, CBOR envelopes and sealed rows, as on a real peer. */
export const realCryptography = (entropy: Prng): Cryptography => {
  const crypto = cryptoOf(noblePrimitives);
  return {
    real: true,
    crypto,
    wire: byteWire,
    providers: installedProviders,
    newKeys: () => ({
      identity: realSigner(hexToBytes(entropy.digest())),
      integrity: { ...realSigner(hexToBytes(entropy.digest())), setKey: hexToBytes(entropy.digest()) },
    }),
    sampleKey: realKey,
    newDisk: (keys, schedule, durable) => new SealedDisk(crypto, () => keys()?.integrity, schedule, durable),
  };
};
