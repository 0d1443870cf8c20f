/** The scheme of Ed25519 keys over libsodium: the same protocols of the same library, byte for byte (RFC 9591 6.1). */
import { createFROST } from "@noble/curves/abstract/frost.js";
import { sha512 } from "@noble/hashes/sha2.js";
import type { KeyCrypto } from "../../core/threshold/Suite.ts";
import type { ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { schemeOf } from "../../runtime/threshold/Schemes.ts";
import { nativePrimitives } from "./NativeCrypto.ts";
import { SodiumPoint } from "./SodiumPoint.ts";

export const sodiumFrost = createFROST({
  name: "FROST-ED25519-SHA512-v1",
  Point: SodiumPoint,
  hash: sha512,
  // Nothing before what is hashed for the challenge, as RFC 8032 has it.
  H2: "",
});

export const sodiumScheme: ThresholdScheme = schemeOf(
  { keygen: sodiumFrost, signing: sodiumFrost, Point: SodiumPoint },
  nativePrimitives.verifyEd25519,
);

/** What keys are made and used with where Node's library and libsodium may compute: Ed25519 by these, the rest as anywhere. */
export const nativeKeyCrypto: KeyCrypto = {
  ...nobleKeyCrypto,
  suites: nobleKeyCrypto.suites.map((suite) =>
    suite.algorithm === "ED25519" ? { ...suite, shared: sodiumScheme, verify: sodiumScheme.verify } : suite,
  ),
};
