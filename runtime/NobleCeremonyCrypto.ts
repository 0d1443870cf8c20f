/** The ceremony's crypto port in pure JavaScript, the same on every machine. */
import type { ECDSA } from "@noble/curves/abstract/weierstrass.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { type IPKCS, PKCS1_SHA1, PKCS1_SHA256, PKCS1_SHA384, PKCS1_SHA512 } from "micro-rsa-dsa-dh/rsa.js";
import type { CeremonyCrypto, CurveName, HashName } from "../core/webauthn/CeremonyCrypto.ts";

const hashes: { readonly [H in HashName]: (bytes: Uint8Array) => Uint8Array } = {
  "SHA-1": sha1,
  "SHA-256": sha256,
  "SHA-384": sha384,
  "SHA-512": sha512,
};

const curves: { readonly [C in CurveName]: ECDSA } = { "P-256": p256, "P-384": p384, "P-521": p521 };

const rsa: { readonly [H in HashName]: IPKCS } = {
  "SHA-1": PKCS1_SHA1,
  "SHA-256": PKCS1_SHA256,
  "SHA-384": PKCS1_SHA384,
  "SHA-512": PKCS1_SHA512,
};

const integer = (bytes: Uint8Array): bigint => BigInt(`0x${bytesToHex(bytes)}`);

const verify: CeremonyCrypto["verify"] = (key, hash, message, signature) => {
  try {
    return key.kind === "EC"
      ? // noble hashes on its own only with the curve's usual hash, and takes only the lower half of S unless told.
        curves[key.curve].verify(signature, hashes[hash](message), key.point, { prehash: false, lowS: false })
      : rsa[hash].verify({ n: integer(key.modulus), e: integer(key.exponent) }, message, signature);
  } catch {
    // Both libraries throw for bytes that do not have the form of a signature.
    return false;
  }
};

export const nobleCeremonyCrypto: CeremonyCrypto = { hash: (name, bytes) => hashes[name](bytes), verify };
