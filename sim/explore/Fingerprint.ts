/**
 * Structural fingerprints of 64 bits, by which members, messages and whole
 * configurations are told apart. Sets, maps and fields count by content, not by
 * order (docs/decisions/0017-small-scope.md).
 */

/** Two words of 32 bits. */
export interface Fingerprint {
  readonly left: number;
  readonly right: number;
}

export const isSame = (one: Fingerprint, other: Fingerprint): boolean =>
  one.left === other.left && one.right === other.right;

/**
 * A signature follows from the key and from what was signed, both of which are there, and a suite from the algorithm
 * and scheme of its key. What is secret shows in nothing; commitments to it do.
 */
const OMITTED: ReadonlySet<string> = new Set(["signature", "suite"]);

const ABSENT: Fingerprint = { left: 0x2545f491, right: 0x4f6cdd1d };
const YES: Fingerprint = { left: 0x1b873593, right: 0x68e31da4 };
const NO: Fingerprint = { left: 0x52dce729, right: 0x38495ab5 };

const scatter = (word: number): number => {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
};

const known = new WeakMap<object, Fingerprint>();
const knownTexts = new Map<string, Fingerprint>();
/** Texts are digests, names and ids of a small world; a cache that grows too large only starts over. */
const MOST_TEXTS = 1 << 17;

/** The fingerprint of one after the other. */
export const joined = (first: Fingerprint, second: Fingerprint): Fingerprint => ({
  left: scatter(Math.imul(first.left, 0x9e3779b1) ^ second.left),
  right: scatter(Math.imul(first.right, 0x5f356495) + second.right),
});

/** The fingerprint of several, whatever their order: sums, so that two of the same do not vanish. */
export const gathered = (parts: Iterable<Fingerprint>): Fingerprint => {
  let left = 0;
  let right = 0;
  for (const part of parts) {
    left = (left + scatter(part.left)) | 0;
    right = (right + scatter(part.right ^ 0x5bd1e995)) | 0;
  }
  return { left, right };
};

const ofNumber = (value: number): Fingerprint => ({
  left: scatter(value | 0),
  right: scatter(Math.floor(value / 0x100000000) ^ Math.imul(value | 0, 0x27d4eb2f)),
});

const ofText = (text: string): Fingerprint => {
  const found = knownTexts.get(text);
  if (found !== undefined) return found;
  let left = text.length;
  let right = ~text.length;
  for (let index = 0; index < text.length; index++) {
    left = scatter(Math.imul(left, 31) ^ text.charCodeAt(index));
    right = scatter(Math.imul(right, 37) + text.charCodeAt(index));
  }
  const print = { left, right };
  if (knownTexts.size >= MOST_TEXTS) knownTexts.clear();
  knownTexts.set(text, print);
  return print;
};

const ofBytes = (bytes: Uint8Array): Fingerprint => {
  let left = bytes.length;
  let right = ~bytes.length;
  for (const byte of bytes) {
    left = scatter(Math.imul(left, 31) ^ byte);
    right = scatter(Math.imul(right, 37) + byte);
  }
  return { left, right };
};

const ofMap = (map: ReadonlyMap<unknown, unknown>): Fingerprint => {
  let left = map.size;
  let right = ~map.size;
  for (const [key, value] of map) {
    const entry = joined(fingerprint(key), fingerprint(value));
    left = (left + entry.left) | 0;
    right = (right + entry.right) | 0;
  }
  return { left, right };
};

const ofList = (list: ReadonlyArray<unknown>): Fingerprint => {
  let all = ofNumber(list.length);
  for (const each of list) all = joined(all, fingerprint(each));
  return all;
};

const ofRecord = (record: object, names: ReadonlyArray<string>): Fingerprint => {
  let left = 0;
  let right = 0;
  for (const name of names) {
    const value: unknown = record[name as keyof typeof record];
    if (value === undefined || OMITTED.has(name)) continue;
    const field = joined(ofText(name), fingerprint(value));
    left = (left + field.left) | 0;
    right = (right + field.right) | 0;
  }
  return { left, right };
};

/** Only records with more fields than this are worth remembering: statements, proposals, messages. */
const FEW_FIELDS = 4;

const ofObject = (value: object): Fingerprint => {
  if (value instanceof Uint8Array) return ofBytes(value);
  if (value instanceof Map) return ofMap(value);
  if (value instanceof Set) return gathered([...value].map(fingerprint));
  if (Array.isArray(value)) return ofList(value);
  const names = Object.keys(value);
  if (names.length <= FEW_FIELDS) return ofRecord(value, names);
  const found = known.get(value);
  if (found !== undefined) return found;
  const print = ofRecord(value, names);
  known.set(value, print);
  return print;
};

/** The fingerprint of an immutable value made of plain data. Throws a TypeError for anything else. */
export const fingerprint = (value: unknown): Fingerprint => {
  switch (typeof value) {
    case "undefined":
      return ABSENT;
    case "boolean":
      return value ? YES : NO;
    case "number":
      return ofNumber(value);
    case "string":
      return ofText(value);
    case "object":
      return value === null ? ABSENT : ofObject(value);
    default:
      throw new TypeError(`a ${typeof value} has no fingerprint`);
  }
};
