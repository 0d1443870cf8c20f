/**
 * Stand-ins for what hides secrets, on their way and at rest: a quick keyed stream and a tag in place of agreements and
 * ciphers. What is hidden is not to be found in the bytes, and opens with the right keys at its own place alone; whoever
 * computes with them outside the simulation is protected from nothing.
 */
import { hexToBytes } from "@noble/hashes/utils.js";
import { Secret } from "../../core/threshold/Secret.ts";
import type { BoxKey, Boxes, SharePlace, ShareVault } from "../../core/threshold/Suite.ts";
import { Mixer } from "../base/Mixer.ts";
import type { Prng } from "../base/Prng.ts";

const TAG_BYTES = 8;
const NONCE_BYTES = 8;
const WORD_BYTES = 4;

const mixer = new Mixer();

const mixed = (purpose: string, ...parts: ReadonlyArray<string | Uint8Array>): string => {
  mixer.reset(37);
  mixer.text(purpose);
  for (const part of parts)
    if (typeof part === "string") mixer.text(part);
    else mixer.bytes(part);
  return mixer.hash;
};

/** The bytes under a stream that follows from a key; the same again gives them back. */
const streamed = (key: string, bytes: Uint8Array): Uint8Array => {
  const result = Uint8Array.from(bytes);
  mixer.reset(41);
  mixer.text(key);
  for (let at = 0; at < result.length; at += WORD_BYTES) {
    mixer.word(at);
    const word = mixer.first;
    for (let each = at; each < Math.min(at + WORD_BYTES, result.length); each++)
      result[each] = (result[each] ?? 0) ^ (word >>> (8 * (each - at)));
  }
  return result;
};

const tagOf = (key: string, bytes: Uint8Array): Uint8Array => hexToBytes(mixed("tag", key, bytes));

const sealed = (key: string, secret: Secret): Uint8Array =>
  Uint8Array.of(...tagOf(key, secret.expose()), ...streamed(key, secret.expose()));

const opened = (key: string, box: Uint8Array): Secret | undefined => {
  if (box.length <= TAG_BYTES) return undefined;
  const bytes = streamed(key, box.slice(TAG_BYTES));
  const isIts = tagOf(key, bytes).every((byte, at) => byte === box[at]);
  return isIts ? new Secret(bytes) : undefined;
};

/** As long as a real one. */
const keyOf = (seed: Secret): BoxKey => mixed("box", seed.expose()).repeat(4) as BoxKey;

/** The holder of either half comes to the same, and nobody in the simulation computes it without one. */
const sharedKey = (sender: string, receiver: string, place: string): string => mixed("pair", sender, receiver, place);

export const toyBoxes: Boxes = {
  keyOf,
  seal: (seed, theirs, place, secret) => sealed(sharedKey(keyOf(seed), theirs, place), secret),
  open: (seed, theirs, place, box) => opened(sharedKey(theirs, keyOf(seed), place), box),
};

const textOf = ({ clusterId, peerId, keyId, generation, transcript, verifyingShare }: SharePlace): string =>
  `${clusterId} ${peerId} ${keyId} ${generation} ${transcript} ${verifyingShare}`;

/** The vault of one peer: its boxes open in no other. */
export const newToyVault = (entropy: Prng): ShareVault => {
  const own = entropy.digest();
  return {
    seal: (place, secret, entropy) => {
      const nonce = hexToBytes(mixed("nonce", entropy.expose()));
      return Uint8Array.of(...nonce, ...sealed(mixed("vault", own, textOf(place), nonce), secret));
    },
    open: (place, box) => {
      const nonce = box.slice(0, NONCE_BYTES);
      return opened(mixed("vault", own, textOf(place), nonce), box.slice(NONCE_BYTES));
    },
  };
};
