/** Everything that keys are made and used with, by kept libraries. */
import type { ECDSA } from "@noble/curves/abstract/weierstrass.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { type DSA, ml_dsa44, ml_dsa65, ml_dsa87 } from "@noble/post-quantum/ml-dsa.js";
import {
  type KeyEncoding,
  keyEncodings,
  subjectPublicKeyInfoPrefix,
} from "../../core/credential/SubjectPublicKeyInfo.ts";
import type { KeyCrypto, Suite } from "../../core/threshold/Suite.ts";
import { bip340Scheme, ed25519Scheme, taprootScheme, type Verify, verifying } from "./Schemes.ts";
import { sessionBoxes } from "./SessionBoxes.ts";
import {
  soloBip340,
  soloEd25519,
  soloMlDsa44,
  soloMlDsa65,
  soloMlDsa87,
  soloP256,
  soloSecp256k1,
  soloTaproot,
} from "./SoloSchemes.ts";

const HASH_BYTES = 32;

/** RFC 8410 section 4, RFC 9881 section 4. */
const spkiOf =
  (encoding: KeyEncoding): Suite["spki"] =>
  (publicKey) => {
    const key = hexToBytes(publicKey);
    return concatBytes(subjectPublicKeyInfoPrefix(encoding, key.length), key);
  };

/** RFC 5480 section 2.2, with the point uncompressed, which every reader takes. */
const spkiOfPoint = (encoding: KeyEncoding, { Point }: ECDSA): Suite["spki"] => {
  const spki = spkiOf(encoding);
  return (publicKey) => spki(Point.fromHex(publicKey).toHex(false));
};

/** A key of BIP 340 is an x coordinate, which no structure is registered for. */
const none = (): undefined => undefined;

/** Of a compressed point alone, and of a hash, which the library would cut off; with the other S a signature is none. */
const verifyEcdsa = (curve: ECDSA): Verify => {
  const options = { prehash: false, lowS: true, format: "compact" } as const;
  return (key, message, signature) =>
    key.length === curve.lengths.publicKey &&
    message.length === HASH_BYTES &&
    curve.verify(signature, message, key, options);
};

const verifyMlDsa =
  (algorithm: DSA): Verify =>
  (key, message, signature) =>
    algorithm.verify(signature, message, key);

const schnorr = { algorithm: "SECP256K1", messageBytes: undefined, spki: none } as const;
const ecdsa = { scheme: "ECDSA", shared: undefined, messageBytes: HASH_BYTES } as const;
const mlDsa = { scheme: "MLDSA", shared: undefined, messageBytes: undefined } as const;

/** The first suite of an algorithm is the one whose caller names no scheme. */
const suites: ReadonlyArray<Suite> = [
  {
    algorithm: "ED25519",
    scheme: "EdDSA",
    shared: ed25519Scheme,
    solo: soloEd25519,
    messageBytes: undefined,
    verify: ed25519Scheme.verify,
    spki: spkiOf(keyEncodings.ED25519),
  },
  { ...schnorr, scheme: "BIP340", shared: bip340Scheme, solo: soloBip340, verify: bip340Scheme.verify },
  { ...schnorr, scheme: "TAPROOT", shared: taprootScheme, solo: soloTaproot, verify: taprootScheme.verify },
  {
    ...ecdsa,
    algorithm: "SECP256K1",
    solo: soloSecp256k1,
    verify: verifying(verifyEcdsa(secp256k1)),
    spki: spkiOfPoint(keyEncodings.SECP256K1, secp256k1),
  },
  {
    ...ecdsa,
    algorithm: "P256",
    solo: soloP256,
    verify: verifying(verifyEcdsa(p256)),
    spki: spkiOfPoint(keyEncodings.P256, p256),
  },
  {
    ...mlDsa,
    algorithm: "MLDSA44",
    solo: soloMlDsa44,
    verify: verifying(verifyMlDsa(ml_dsa44)),
    spki: spkiOf(keyEncodings.MLDSA44),
  },
  {
    ...mlDsa,
    algorithm: "MLDSA65",
    solo: soloMlDsa65,
    verify: verifying(verifyMlDsa(ml_dsa65)),
    spki: spkiOf(keyEncodings.MLDSA65),
  },
  {
    ...mlDsa,
    algorithm: "MLDSA87",
    solo: soloMlDsa87,
    verify: verifying(verifyMlDsa(ml_dsa87)),
    spki: spkiOf(keyEncodings.MLDSA87),
  },
];

export const nobleKeyCrypto: KeyCrypto = { suites, boxes: sessionBoxes };
