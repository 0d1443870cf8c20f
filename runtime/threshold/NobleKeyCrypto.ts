/** Everything that keys are made and used with, by kept libraries. */
import { hexToBytes } from "@noble/hashes/utils.js";
import type { KeyCrypto, Suite } from "../../core/threshold/Suite.ts";
import { ed25519Scheme } from "./Schemes.ts";
import { sessionBoxes } from "./SessionBoxes.ts";
import { soloEd25519 } from "./SoloSchemes.ts";

/** RFC 8410 section 4. */
const ED25519_SPKI = hexToBytes("302a300506032b6570032100");

const eddsa: Suite = {
  algorithm: "ED25519",
  scheme: "EdDSA",
  shared: ed25519Scheme,
  solo: soloEd25519,
  messageBytes: undefined,
  verify: ed25519Scheme.verify,
  spki: (publicKey) => Uint8Array.of(...ED25519_SPKI, ...hexToBytes(publicKey)),
};

export const nobleKeyCrypto: KeyCrypto = { suites: [eddsa], boxes: sessionBoxes };
