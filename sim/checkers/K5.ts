/**
 * K5: shares, nonces, and the bytes that they come from are in no message, row or answer but in a box, which hides them.
 * Every one that was computed with is known, and looked for in the bytes and texts of whatever has to do with keys. What a
 * session needs goes from memory when its peer is sealed.
 */
import { Encoding } from "effect";
import { Secret } from "../../core/threshold/Secret.ts";
import { Violation } from "../base/Violation.ts";
import type { HeldSecrets } from "../crypto/HeldSecrets.ts";
import type { Checker } from "./Checker.ts";

/** Digits of the shortest secret, and characters of it in Base64. */
const SHORTEST_TEXT = 11;
const BETWEEN_WORDS = /[^0-9A-Za-z+/=]+/;
const HEX = /^[0-9a-f]+$/;

/** Where modules keep secrets while they use them: names of their memory and of its parts. */
const inMemory = [
  ["signing", "sessions"],
  ["makeKey", "sessions"],
  ["repairs", "repairs"],
  ["repairs", "helping"],
] as const;

type Slices = Readonly<Record<string, Readonly<Record<string, ReadonlyMap<string, unknown>>> | undefined>>;

/** Tables of which some row is of keys. */
const tables: ReadonlySet<string> = new Set([
  "custodyKeys",
  "generations",
  "shares",
  "pending",
  "consents",
  "audit",
  "preparations",
  "certificates",
  "refusals",
]);

/** Where in a value the first secret is. */
const finder = (held: HeldSecrets): ((value: unknown) => string | undefined) => {
  const clean = new WeakSet<object>();
  const isInText = (text: string): boolean => {
    if (text.length < SHORTEST_TEXT) return false;
    if (HEX.test(text)) {
      // A digit before it, such as the mark of an element, moves it by half a byte.
      const even = text.length % 2 === 0 ? text : `${text}0`;
      return held.isIn(bytesOf(even)) || held.isIn(bytesOf(`${even.slice(1)}0`));
    }
    const bytes = Encoding.decodeBase64(text);
    return bytes._tag === "Right" && held.isIn(bytes.right);
  };
  const find = (value: unknown): string | undefined => {
    if (typeof value === "string") return isInText(value) ? "" : undefined;
    if (typeof value !== "object" || value === null) return undefined;
    if (value instanceof Secret) return "";
    if (clean.has(value)) return undefined;
    const found = value instanceof Uint8Array ? (held.isIn(value) ? "" : undefined) : findInside(value);
    if (found === undefined) clean.add(value);
    return found;
  };
  const findInside = (value: object): string | undefined => {
    for (const [name, each] of value instanceof Map ? value : Object.entries(value)) {
      const found = find(each);
      if (found !== undefined) return `.${name}${found}`;
    }
    return undefined;
  };
  return find;
};

const bytesOf = (hex: string): Uint8Array => {
  const bytes = Encoding.decodeHex(hex);
  return bytes._tag === "Right" ? bytes.right : new Uint8Array(0);
};

const rule = "secrets of keys stay in memory, or in boxes";

export const K5 = (held: HeldSecrets): Checker => {
  const find = finder(held);
  return {
    id: "K5",
    flushed: ({ slot }, writes) => {
      if (held.isEmpty) return;
      for (const write of writes) {
        const found = write.op === "remove" || !tables.has(write.table) ? undefined : find(write.row);
        if (found !== undefined) throw new Violation("K5", rule, `peer ${slot} stored one at ${write.table}${found}`);
      }
    },
    sent: ({ slot }, message) => {
      const found = message._tag.includes(".") && !held.isEmpty ? find(message) : undefined;
      if (found !== undefined)
        throw new Violation("K5", rule, `peer ${slot} sent one in a ${message._tag} at ${found}`);
    },
    stepped: ({ slot, state }) => {
      if (state === undefined || state.fitness.unsealed) return;
      const slices = state.modules as Slices;
      for (const [slice, part] of inMemory)
        if ((slices[slice]?.[part]?.size ?? 0) > 0)
          throw new Violation("K5", `peer ${slot} is sealed`, `it still has the secrets of ${part} of ${slice}`);
    },
    traced: (text) => {
      const found = held.isEmpty ? undefined : find(text.split(BETWEEN_WORDS));
      if (found !== undefined) throw new Violation("K5", rule, `the trace has one: ${text}`);
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = held.isEmpty ? undefined : find(answer);
      if (found !== undefined)
        throw new Violation("K5", rule, `peer ${slot} answered ${requestId} with one at ${found}`);
    },
  };
};
