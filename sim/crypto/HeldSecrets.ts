/** Every secret of keys that peers of a world computed with, so that one is known wherever it turns up (K5). */
import { hexToBytes } from "@noble/hashes/utils.js";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { unisolated } from "../base/Isolation.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { KeyCrypto, ShareVault, Suite } from "../../core/threshold/Suite.ts";

/** The shortest is a scalar of the toy group; zeros and the like are no secrets. */
const SHORTEST = 8;
const LEAST_DIFFERENT = 4;

const wordAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);

const isAt = (bytes: Uint8Array, at: number, secret: Uint8Array): boolean => {
  if (at + secret.length > bytes.length) return false;
  for (let index = 0; index < secret.length; index++) if (bytes[at + index] !== secret[index]) return false;
  return true;
};

export class HeldSecrets {
  /** By their first four bytes. */
  readonly #all = new Map<number, Array<Uint8Array>>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  note(secret: Secret): void {
    const bytes = secret.expose();
    if (bytes.length < SHORTEST || new Set(bytes).size < LEAST_DIFFERENT) return;
    const head = wordAt(bytes, 0);
    const known = this.#all.get(head);
    if (known === undefined) this.#all.set(head, [bytes.slice()]);
    else if (!known.some((each) => each.length === bytes.length && isAt(each, 0, bytes))) known.push(bytes.slice());
  }

  /** Whether one of them is somewhere in these bytes. */
  isIn(bytes: Uint8Array): boolean {
    for (let at = 0; at + SHORTEST <= bytes.length; at++)
      if (this.#all.get(wordAt(bytes, at))?.some((each) => isAt(bytes, at, each)) === true) return true;
    return false;
  }
}

/** Takes note of every secret in what a function is given, or gives back. */
const noteAll = (held: HeldSecrets, value: unknown): void => {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  if (value instanceof Secret) return held.note(value);
  const inside: Iterable<unknown> =
    value instanceof Map ? value.values() : Array.isArray(value) ? value : Object.values(value);
  for (const each of inside) noteAll(held, each);
};

type Functions = { readonly [name: string]: unknown };

/**
 * The same port, whose functions take note of secrets. A library may draw random bytes to hide what it computes, not to
 * compute it.
 */
const noting = <P extends object>(held: HeldSecrets, port: P): P =>
  Object.fromEntries(
    Object.entries(port as Functions).map(([name, part]) => {
      if (typeof part !== "function") return [name, part];
      return [
        name,
        (...given: ReadonlyArray<unknown>): unknown => {
          noteAll(held, given);
          const made: unknown = unisolated(() => part(...given));
          noteAll(held, made);
          return made;
        },
      ];
    }),
  ) as P;

const notingSuite = (held: HeldSecrets, suite: Suite): Suite => ({
  ...noting(held, suite),
  shared: suite.shared && noting(held, suite.shared),
  solo: noting(held, suite.solo),
});

export const watchedKeyCrypto = (held: HeldSecrets, { suites, boxes }: KeyCrypto): KeyCrypto => ({
  suites: suites.map((suite) => notingSuite(held, suite)),
  boxes: noting(held, boxes),
});

const OF_KEYS = /^(?:keygen|sign|share box|repair)/;

/** What a secret of a key is derived from is one too. */
export const watchedSeeds = (held: HeldSecrets, crypto: Crypto): Crypto => ({
  ...crypto,
  derive: (seed, label) => {
    if (OF_KEYS.test(label)) held.note(new Secret(hexToBytes(seed)));
    return crypto.derive(seed, label);
  },
});

export const watchedVault = (held: HeldSecrets, vault: ShareVault): ShareVault => noting(held, vault);
