/** What simulated keys are made and used with: the toy group, and the product's own boxes. */
import { hexToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { KeyCrypto, ShareVault, Suite } from "../../core/threshold/Suite.ts";
import { sessionBoxes } from "../../runtime/threshold/SessionBoxes.ts";
import { shareVault } from "../../runtime/threshold/ShareVault.ts";
import { soloEd25519 } from "../../runtime/threshold/SoloSchemes.ts";
import type { Prng } from "../base/Prng.ts";
import { toyScheme } from "./ToyThreshold.ts";

const toy: Suite = {
  algorithm: "ED25519",
  scheme: "EdDSA",
  shared: toyScheme,
  solo: soloEd25519,
  messageBytes: undefined,
  verify: toyScheme.verify,
  spki: () => undefined,
};

export const simKeyCrypto: KeyCrypto = { suites: [toy], boxes: sessionBoxes };

/** The vault of one peer. */
export const newVault = (entropy: Prng): ShareVault => shareVault(new Secret(hexToBytes(entropy.digest())));
