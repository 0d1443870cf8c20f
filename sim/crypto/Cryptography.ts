/** What a world computes with: stand-ins, the product's own codec with stand-ins for signatures, or the real thing. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either, Encoding } from "effect";
import { type Ceremony, ceremonyWith } from "../../core/webauthn/Ceremony.ts";
import { installedProviders, type SignatureProvider } from "../../core/credential/SignatureProvider.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import type { PublicKey } from "../../core/base/Digest.ts";
import type { KeyCrypto, ShareVault } from "../../core/threshold/Suite.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Composition, Schema } from "../../core/protocol/Composition.ts";
import { type CryptoPrimitives, cryptoOf, signerOf } from "../../runtime/CryptoPrimitives.ts";
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { noblePrimitives, nobleSigning } from "../../runtime/NobleCrypto.ts";
import { INVITATION_MARK } from "./SecretMarks.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import { codecCrypto } from "./CodecCrypto.ts";
import { fastCrypto } from "./FastCrypto.ts";
import { unisolated } from "../base/Isolation.ts";
import type { PeerDisk } from "../disks/PeerDisk.ts";
import type { Prng } from "../base/Prng.ts";
import { SealedDisk } from "../disks/SealedDisk.ts";
import { SimDisk } from "../disks/SimDisk.ts";
import { type Challenged, realResponse, type SampleResponse, simResponse } from "./SimAuthenticator.ts";
import { simCeremony } from "./SimCeremony.ts";
import { HeldSecrets, watchedKeyCrypto, watchedSeeds, watchedVault } from "./HeldSecrets.ts";
import { newRealVault, newVault, simKeyCrypto } from "./SimKeyCrypto.ts";
import type { Tier } from "../base/Tier.ts";
import { byteWireOf, valueWire, type Wire } from "../network/Wire.ts";

/** The keys a peer gets when it is initialized. */
export interface PeerKeys {
  readonly identity: Signer;
  readonly integrity: IntegrityKey;
  readonly shareVault: ShareVault;
}

/** A key that callers register: as submitted, its other formats, and its normal form. */
export interface SampleKey {
  /** Another name for another key, whatever its bytes are. */
  readonly name: string;
  readonly algorithm: string;
  readonly submitted64: string;
  readonly otherwise64: readonly [string, ...ReadonlyArray<string>];
  readonly normal64: string;
}

export interface Cryptography {
  readonly crypto: Crypto;
  readonly wire: Wire;
  readonly providers: ReadonlyMap<string, SignatureProvider>;
  readonly ceremony: Ceremony;
  readonly keyCrypto: KeyCrypto;
  readonly newKeys: () => PeerKeys;
  /** The same number gives the same key, another number another key. */
  readonly sampleKey: (index: number) => SampleKey;
  /** Another key whose normal form has the very bytes of this one, under another algorithm; undefined where none has. */
  readonly twinOf: (index: number) => SampleKey | undefined;
  /** The name of the key that an authenticator has by this number. */
  readonly passkeyName: (index: number) => string;
  /** What the authenticator with a sample key answers to a challenge. */
  readonly respond: (challenged: Challenged) => SampleResponse;
  readonly newDisk: (
    keys: () => PeerKeys | undefined,
    schedule: () => void,
    durable: () => void,
    /** How the program that opens it next reads and writes rows. */
    schema: () => Schema,
  ) => PeerDisk;
}

/** With the secrets of keys that peers have computed with by now. */
export interface WatchedCryptography extends Cryptography {
  readonly secrets: HeldSecrets;
}

/**
 * The algorithm of bulk runs, under the name by which passkeys share it: any 24 bytes are a key in normal form; the
 * same with a mark before it is another format of it.
 */
const SIM_ALGORITHM = "P256";
/** Another algorithm that takes the same bytes for a key. */
const SIM_TWIN_ALGORITHM = "SECP256K1";
const SIM_KEY_BYTES = 24;
const SIM_MARK = 4;

/** A public key of the toy group, as which custody keys would be registered. */
const TOY_KEY_BYTES = 9;
const TOY_MARK = 0x54;

const simProvider = (algorithm: string): SignatureProvider => ({
  algorithm,
  normalize: (encoded) => {
    const isToy = encoded.length === TOY_KEY_BYTES && encoded[0] === TOY_MARK;
    if (isToy || encoded.length === SIM_KEY_BYTES) return Either.right(encoded);
    return encoded.length === SIM_KEY_BYTES + 1 && encoded[0] === SIM_MARK
      ? Either.right(encoded.slice(1))
      : Either.left("A simulated key has 24 bytes.");
  },
});

const simRespond = (challenged: Challenged): SampleResponse =>
  simResponse(challenged, Either.getOrThrow(Encoding.decodeBase64(simKey(challenged.key).submitted64)));

const simProviders = new Map([SIM_ALGORITHM, SIM_TWIN_ALGORITHM, "ED25519"].map((each) => [each, simProvider(each)]));

const nameOf = (algorithm: string, index: number): string => `key ${index} of ${algorithm}`;

/** Passkeys share this algorithm with registered keys. */
const passkeyName = (index: number): string => nameOf(SIM_ALGORITHM, index);

/** Hexadecimal digits are Base64 characters too: 32 of them are 24 bytes. The other format is made on demand. */
class SimKey implements SampleKey {
  readonly name: string;
  readonly algorithm: string;
  readonly submitted64: string;
  readonly normal64: string;

  constructor(index: number, algorithm: string) {
    const text = index.toString(16).padStart(32, "0");
    this.algorithm = algorithm;
    this.name = nameOf(this.algorithm, index);
    this.submitted64 = text;
    this.normal64 = text;
  }

  get otherwise64(): readonly [string] {
    const bytes = Either.getOrThrow(Encoding.decodeBase64(this.submitted64));
    return [Encoding.encodeBase64(Uint8Array.of(SIM_MARK, ...bytes))];
  }
}

const simKey = (index: number): SampleKey => new SimKey(index, SIM_ALGORITHM);

const simTwin = (index: number): SampleKey => new SimKey(index, SIM_TWIN_ALGORITHM);

/** Invitations begin with the mark that S29 looks for; the rest of their bytes are as they were derived. */
const markingInvitations = (crypto: Crypto): Crypto => ({
  ...crypto,
  derive: (seed, label) => {
    const secret = crypto.derive(seed, label);
    if (label.startsWith("invitation ")) secret.set(utf8Bytes(INVITATION_MARK));
    return secret;
  },
});

/** Quick stand-ins; see docs/simulator.md for what they bypass. */
const fastCryptography = (entropy: Prng): Cryptography => {
  const { crypto, newSigner } = fastCrypto(entropy);
  return {
    crypto,
    wire: valueWire,
    providers: simProviders,
    ceremony: simCeremony,
    keyCrypto: simKeyCrypto,
    newKeys: () => ({
      identity: newSigner(),
      integrity: { ...newSigner(), setKey: new Uint8Array(0) },
      shareVault: newVault(entropy),
    }),
    sampleKey: simKey,
    twinOf: simTwin,
    passkeyName,
    respond: simRespond,
    newDisk: (_keys, schedule, durable) => new SimDisk(schedule, durable),
  };
};

/**
 * The library for real digests and signatures. Ed25519 (RFC 8032 5.1.6) and SHA-256 leave nothing to choose, so every
 * backend gives the same bytes, and a run is the same with any.
 */
export interface Backend {
  readonly primitives: CryptoPrimitives;
  /** An Ed25519 key from its seed of 32 bytes. */
  readonly signingKey: (seed: Uint8Array) => SigningKey;
}

export interface SigningKey {
  readonly publicKey: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** Pure JavaScript: wherever the simulator runs, this runs. */
export const portableBackend: Backend = {
  primitives: noblePrimitives,
  signingKey: (seed) => ({
    publicKey: unisolated(() => nobleSigning.publicKeyOf(seed)),
    sign: (message) => unisolated(() => nobleSigning.sign(seed, message)),
  }),
};

/** Everything as bytes, sealed on disks and in envelopes between peers. */
const onDisksAndWires = (crypto: Crypto, composition: Composition): Pick<Cryptography, "wire" | "newDisk"> => ({
  wire: byteWireOf(composition),
  newDisk: (keys, schedule, durable, schema) =>
    new SealedDisk(crypto, () => keys()?.integrity, schedule, durable, undefined, schema),
});

/** The codec, digests and sealed rows of a real peer; stand-ins for signatures, MACs and registered keys. */
const codecCryptography = (
  entropy: Prng,
  { primitives }: Backend = portableBackend,
  composition = commands,
): Cryptography => {
  const { crypto, newSigner } = codecCrypto(entropy, primitives);
  return {
    crypto,
    ...onDisksAndWires(crypto, composition),
    providers: simProviders,
    ceremony: simCeremony,
    keyCrypto: simKeyCrypto,
    newKeys: () => ({
      identity: newSigner(),
      integrity: { ...newSigner(), setKey: hexToBytes(entropy.digest()) },
      shareVault: newVault(entropy),
    }),
    sampleKey: simKey,
    twinOf: simTwin,
    passkeyName,
    respond: simRespond,
  };
};

const realCeremony = ceremonyWith(nobleCeremonyCrypto);

const seedOf = (index: number): Uint8Array => {
  const seed = new Uint8Array(32).fill(5);
  new DataView(seed.buffer).setUint32(0, index);
  return seed;
};

/** What precedes a key or point in its SubjectPublicKeyInfo (RFC 8410 section 4, RFC 5480 section 2). */
const ED25519_SPKI = hexToBytes("302a300506032b6570032100");
const P256_SPKI = hexToBytes("3059301306072a8648ce3d020106082a8648ce3d030107034200");

const spki64 = (before: Uint8Array, key: Uint8Array): string => Encoding.encodeBase64(Uint8Array.of(...before, ...key));

const makeRealKey = (index: number): SampleKey => {
  const seed = seedOf(index);
  if (index % 2 === 0) {
    const key = ed25519.getPublicKey(seed);
    const key64 = Encoding.encodeBase64(key);
    const name = nameOf("ED25519", index);
    return {
      name,
      algorithm: "ED25519",
      submitted64: key64,
      otherwise64: [spki64(ED25519_SPKI, key)],
      normal64: key64,
    };
  }
  const point = p256.getPublicKey(seed, false);
  // Compressed (SEC 1, 2.3.3): the parity of y, and x.
  const normal64 = Encoding.encodeBase64(Uint8Array.of(2 + ((point.at(-1) ?? 0) & 1), ...point.subarray(1, 33)));
  return {
    name: passkeyName(index),
    algorithm: "P256",
    submitted64: Encoding.encodeBase64(point),
    otherwise64: [normal64, spki64(P256_SPKI, point)],
    normal64,
  };
};

/** They are the same in every run, and each takes longer to make than an event. */
const realKeys = new Map<number, SampleKey>();

const realKey = (index: number): SampleKey => {
  const known = realKeys.get(index);
  if (known !== undefined) return known;
  const made = unisolated(() => makeRealKey(index));
  realKeys.set(index, made);
  return made;
};

/** Half of the compressed points of P-256 are such points of secp256k1, too. */
const makeRealTwin = (index: number): SampleKey | undefined => {
  if (index % 2 === 0) return undefined;
  const { normal64 } = realKey(index);
  try {
    const point = secp256k1.Point.fromBytes(Either.getOrThrow(Encoding.decodeBase64(normal64)));
    const submitted64 = Encoding.encodeBase64(point.toBytes(false));
    const algorithm = "SECP256K1";
    return { name: nameOf(algorithm, index), algorithm, submitted64, otherwise64: [normal64], normal64 };
  } catch {
    return undefined;
  }
};

const realTwins = new Map<number, SampleKey | undefined>();

const realTwin = (index: number): SampleKey | undefined => {
  if (!realTwins.has(index))
    realTwins.set(
      index,
      unisolated(() => makeRealTwin(index)),
    );
  return realTwins.get(index);
};

const realPoints = new Map<number, Uint8Array>();

/** The uncompressed point of the P-256 key that a number stands for. */
const realPoint = (index: number): Uint8Array => {
  const known = realPoints.get(index);
  if (known !== undefined) return known;
  const made = unisolated(() => p256.getPublicKey(seedOf(index), false));
  realPoints.set(index, made);
  return made;
};

/** Ed25519, SHA-256, CBOR envelopes and sealed rows, as on a real peer. */
export const realCryptography = (
  entropy: Prng,
  { primitives, signingKey }: Backend = portableBackend,
  composition = commands,
): Cryptography => {
  const real = cryptoOf(primitives);
  // The library draws random bytes to hide what it computes, not to compute it.
  const crypto: Crypto = {
    ...real,
    agreementKey: (secret) => unisolated(() => real.agreementKey(secret)),
    agree: (secret, theirs) => unisolated(() => real.agree(secret, theirs)),
  };
  const newSigner = (): Signer => {
    const { publicKey, sign } = signingKey(hexToBytes(entropy.digest()));
    return signerOf(bytesToHex(publicKey) as PublicKey, sign);
  };
  return {
    crypto,
    ...onDisksAndWires(crypto, composition),
    providers: installedProviders,
    ceremony: realCeremony,
    keyCrypto: nobleKeyCrypto,
    newKeys: () => ({
      identity: newSigner(),
      integrity: { ...newSigner(), setKey: hexToBytes(entropy.digest()) },
      shareVault: newRealVault(entropy),
    }),
    sampleKey: realKey,
    twinOf: realTwin,
    passkeyName,
    respond: (challenged) => realResponse(challenged, realPoint(challenged.key)),
  };
};

type Maker = (entropy: Prng, backend?: Backend, composition?: Composition) => Cryptography;

const cryptographies: { readonly [T in Tier]: Maker } = {
  fast: fastCryptography,
  codec: codecCryptography,
  real: realCryptography,
};

/** What a run of a tier computes with. */
export const cryptographyOf = (
  tier: Tier,
  entropy: Prng,
  composition: Composition,
  backend = portableBackend,
): WatchedCryptography => {
  const cryptography = cryptographies[tier](entropy, backend, composition);
  const secrets = new HeldSecrets();
  return {
    ...cryptography,
    crypto: markingInvitations(watchedSeeds(secrets, cryptography.crypto)),
    keyCrypto: watchedKeyCrypto(secrets, cryptography.keyCrypto),
    secrets,
    newKeys: () => {
      const keys = cryptography.newKeys();
      return { ...keys, shareVault: watchedVault(secrets, keys.shareVault) };
    },
  };
};
