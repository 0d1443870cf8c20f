import { expect, it } from "vitest";
import { Secret } from "../../core/threshold/Secret.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { entropyOf } from "../base/Prng.ts";
import { HeldSecrets, watchedKeyCrypto } from "./HeldSecrets.ts";
import { newVault, simKeyCrypto } from "./SimKeyCrypto.ts";

const secretOf = (...bytes: ReadonlyArray<number>): Secret => new Secret(Uint8Array.from(bytes));
const seedOf = (number: number): Secret => new Secret(new Uint8Array(32).fill(number));

const hidden = secretOf(9, 8, 7, 6, 5, 4, 3, 2, 1);
const { boxes, suites } = simKeyCrypto;
const place = {
  clusterId: "c".repeat(64) as Digest,
  peerId: 1,
  keyId: "k",
  generation: 1,
  transcript: "d".repeat(64) as Digest,
  verifyingShare: "54",
};

it("hides a secret from everybody but the holder of the other key, at its own place", () => {
  const [mine, theirs, others] = [seedOf(1), seedOf(2), seedOf(3)];
  const box = boxes.seal(mine, boxes.keyOf(theirs), "share 1 to 2", hidden);
  expect(boxes.open(theirs, boxes.keyOf(mine), "share 1 to 2", box)?.expose()).toEqual(hidden.expose());
  expect(boxes.open(theirs, boxes.keyOf(mine), "share 1 to 3", box)).toBeUndefined();
  expect(boxes.open(others, boxes.keyOf(mine), "share 1 to 2", box)).toBeUndefined();
  expect(boxes.open(mine, boxes.keyOf(theirs), "share 1 to 2", box)).toBeUndefined();
  expect(boxes.open(theirs, boxes.keyOf(mine), "share 1 to 2", box.slice(0, 12))).toBeUndefined();
});

it("hides a share in one peer's vault, for one generation", () => {
  const [vault, other] = [newVault(entropyOf(1, 1)), newVault(entropyOf(1, 2))];
  const box = vault.seal(place, hidden, seedOf(4));
  expect(vault.open(place, box)?.expose()).toEqual(hidden.expose());
  expect(vault.open({ ...place, generation: 2 }, box)).toBeUndefined();
  expect(other.open(place, box)).toBeUndefined();
  expect(vault.seal(place, hidden, seedOf(5))).not.toEqual(box);
});

it("signs alone, for a verifier that takes no other message or key", () => {
  for (const { solo, verify } of suites) {
    const { publicKey, secret } = solo.keyOf(seedOf(6));
    const signature = solo.sign(secret, Uint8Array.of(1), seedOf(7));
    expect(verify(publicKey, Uint8Array.of(1), signature)).toBe(true);
    expect(verify(publicKey, Uint8Array.of(2), signature)).toBe(false);
    expect(verify(solo.keyOf(seedOf(8)).publicKey, Uint8Array.of(1), signature)).toBe(false);
  }
});

it("knows the secrets that were computed with wherever they turn up, and finds none in what hides them", () => {
  const held = new HeldSecrets();
  const watched = watchedKeyCrypto(held, simKeyCrypto);
  expect(held.isIn(hidden.expose())).toBe(false);
  const box = watched.boxes.seal(seedOf(1), boxes.keyOf(seedOf(2)), "place", hidden);
  expect(held.isIn(Uint8Array.of(0, 0, ...hidden.expose(), 0))).toBe(true);
  expect(held.isIn(box)).toBe(false);
  expect(held.isIn(newVault(entropyOf(1, 1)).seal(place, hidden, seedOf(4)))).toBe(false);
});
