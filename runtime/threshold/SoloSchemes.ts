/**
 * Keys of a peer that is alone, by the library. Every secret has 32 bytes: the seed of RFC 8032 and of FIPS 204
 * (RFC 9881 section 6), or a scalar of the curve, big-endian and in range.
 */
import type { ECDSA } from "@noble/curves/abstract/weierstrass.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { shake256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type DSA, ml_dsa44, ml_dsa65, ml_dsa87 } from "@noble/post-quantum/ml-dsa.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { SoloScheme } from "../../core/threshold/SoloScheme.ts";
import type { Element, GroupKey } from "../../core/threshold/ThresholdScheme.ts";
import { tweaked, tweakedKey, xOnly } from "./Taproot.ts";

const SECRET_BYTES = 32;
/** Enough that a scalar made of them is as good as uniform (FIPS 186-5 appendix A.2.1). */
const SCALAR_SEED_BYTES = 48;

const expanded = (seed: Secret, purpose: string, bytes: number): Uint8Array =>
  shake256(concatBytes(utf8ToBytes(`CUSTODY_SOLO_V1 ${purpose} `), seed.expose()), { dkLen: bytes });

const scalarOf = (curve: ECDSA, seed: Secret, purpose: string): Secret => {
  const drawn = expanded(seed, purpose, SCALAR_SEED_BYTES);
  const scalar = curve.utils.randomSecretKey(drawn);
  const secret = new Secret(scalar);
  drawn.fill(0);
  scalar.fill(0);
  return secret;
};

/** Whoever stores a secret stores all of it and nothing else. */
const bytesOf = (secret: Secret): Uint8Array => {
  const bytes = secret.expose();
  if (bytes.length !== SECRET_BYTES) throw new RangeError(`a private key has ${SECRET_BYTES} bytes`);
  return bytes;
};

/** A secret that is a scalar already. */
const itself = (secret: Secret): Secret => new Secret(bytesOf(secret));

/** RFC 8032: the secret is the seed, and signatures need no randomness. */
export const soloEd25519: SoloScheme = {
  keyOf: (seed) => {
    const secret = expanded(seed, "ED25519", SECRET_BYTES);
    return { publicKey: bytesToHex(ed25519.getPublicKey(secret)), secret: new Secret(secret) };
  },
  // RFC 8032 section 5.1.5, reduced: what the seed's signatures multiply by.
  scalarOf: (secret) => {
    const { head, prefix, scalar } = ed25519.utils.getExtendedPublicKey(bytesOf(secret));
    const bytes = ed25519.Point.Fn.toBytes(scalar);
    const shared = new Secret(bytes);
    for (const each of [head, prefix, bytes]) each.fill(0);
    return shared;
  },
  sign: (secret, message) => bytesToHex(ed25519.sign(message, bytesOf(secret))),
};

/** BIP 340, with the entropy as its auxiliary randomness. */
export const soloBip340: SoloScheme = {
  keyOf: (seed) => {
    const secret = scalarOf(secp256k1, seed, "BIP340");
    return { publicKey: bytesToHex(schnorr.getPublicKey(secret.expose())), secret };
  },
  scalarOf: itself,
  sign: (secret, message, entropy) => bytesToHex(schnorr.sign(message, bytesOf(secret), entropy.expose())),
};

/** A key that is not shared, as the tweak takes keys. */
const alone = (secret: Secret): GroupKey => ({
  threshold: 1,
  commitments: [bytesToHex(secp256k1.getPublicKey(bytesOf(secret))) as Element],
  verifyingShares: new Map(),
});

/** The same under the output key that commits to no script (BIP 341, BIP 86); what is stored has no tweak. */
export const soloTaproot: SoloScheme = {
  keyOf: (seed) => {
    const secret = scalarOf(secp256k1, seed, "TAPROOT");
    return { publicKey: xOnly(tweakedKey(alone(secret))), secret };
  },
  scalarOf: itself,
  sign: (secret, message, entropy) => {
    const { share } = tweaked({ key: alone(secret), share: { index: 1, secret } });
    try {
      return soloBip340.sign(share.secret, message, entropy);
    } finally {
      share.secret.wipe();
    }
  },
};

/**
 * ECDSA over a message that is the hash already: r and s of the curve's width, low S, nonces of RFC 6979 with the
 * entropy added (section 3.6). The public key is the compressed point.
 */
const soloEcdsa = (curve: ECDSA, purpose: string): SoloScheme => ({
  keyOf: (seed) => {
    const secret = scalarOf(curve, seed, purpose);
    return { publicKey: bytesToHex(curve.getPublicKey(secret.expose())), secret };
  },
  scalarOf: undefined,
  sign: (secret, message, entropy) =>
    bytesToHex(
      curve.sign(message, bytesOf(secret), {
        prehash: false,
        lowS: true,
        format: "compact",
        extraEntropy: entropy.expose(),
      }),
    ),
});

/** FIPS 204 with an empty context, hedged (section 3.4). The expanded key is made again for each signature. */
const soloMlDsa = (algorithm: DSA, purpose: string): SoloScheme => ({
  keyOf: (seed) => {
    const secret = new Secret(expanded(seed, purpose, SECRET_BYTES));
    return { publicKey: bytesToHex(algorithm.keygen(secret.expose()).publicKey), secret };
  },
  scalarOf: undefined,
  sign: (secret, message, entropy) => {
    const { secretKey } = algorithm.keygen(bytesOf(secret));
    const signature = bytesToHex(algorithm.sign(message, secretKey, { extraEntropy: entropy.expose() }));
    secretKey.fill(0);
    return signature;
  },
});

export const soloSecp256k1 = soloEcdsa(secp256k1, "SECP256K1");
export const soloP256 = soloEcdsa(p256, "P256");
export const soloMlDsa44 = soloMlDsa(ml_dsa44, "MLDSA44");
export const soloMlDsa65 = soloMlDsa(ml_dsa65, "MLDSA65");
export const soloMlDsa87 = soloMlDsa(ml_dsa87, "MLDSA87");
