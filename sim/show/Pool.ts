/**
 * Values of a run as plain data, each kept once however often it occurs, and
 * without secrets: no bearer token and no key material gets in (S29).
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { redactionOf, textWithoutTokens } from "./Redaction.ts";
import type { PoolEntry } from "./PictureData.ts";

const LIST = -1;
/** Longer byte strings are cut. */
const SHOWN_BYTES = 64;

/** Request bodies are JSON, and readable as they are; everything else is not. */
const isText = (bytes: Uint8Array): boolean => bytes.length > 0 && bytes.every((byte) => byte >= 0x20 && byte < 0x7f);

const bytesText = (bytes: Uint8Array): string => {
  if (isText(bytes)) return textWithoutTokens(String.fromCharCode(...bytes));
  const hex = bytesToHex(bytes.subarray(0, SHOWN_BYTES));
  return bytes.length > SHOWN_BYTES ? `${hex}… (${bytes.length} bytes)` : hex;
};

export class Pool {
  readonly entries: Array<PoolEntry> = [];
  readonly shapes: Array<ReadonlyArray<string>> = [];
  readonly #byText = new Map<string, number>();
  readonly #byObject = new WeakMap<object, number>();
  readonly #shapeByText = new Map<string, number>();

  /** The index of a value; whatever is not data (a function) becomes null. */
  add(value: unknown): number {
    if (typeof value === "string") return this.#keep(textWithoutTokens(value));
    if (typeof value === "number" || typeof value === "boolean") return this.#keep(value);
    if (typeof value === "bigint") return this.#keep(String(value));
    if (typeof value !== "object" || value === null) return this.#keep(null);
    const known = this.#byObject.get(value);
    if (known !== undefined) return known;
    const index = this.#keep(this.#entryOf(value));
    this.#byObject.set(value, index);
    return index;
  }

  #entryOf(value: object): PoolEntry {
    if (value instanceof Uint8Array) return bytesText(value);
    if (Array.isArray(value) || value instanceof Set) return [LIST, ...[...value].map((each) => this.add(each))];
    const pairs = value instanceof Map ? [...value] : Object.entries(value);
    const fields = pairs
      .filter(([, each]) => each !== undefined)
      .map(([name, each]) => this.#field(String(name), each));
    return [this.#shape(fields.map(([name]) => name)), ...fields.map(([, index]) => index)];
  }

  #field(name: string, value: unknown): readonly [string, number] {
    return [textWithoutTokens(name), this.add(redactionOf(name) ?? value)];
  }

  #shape(names: ReadonlyArray<string>): number {
    const text = JSON.stringify(names);
    const known = this.#shapeByText.get(text);
    if (known !== undefined) return known;
    this.#shapeByText.set(text, this.shapes.length);
    return this.shapes.push(names) - 1;
  }

  #keep(entry: PoolEntry): number {
    const text = JSON.stringify(entry);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    this.#byText.set(text, this.entries.length);
    return this.entries.push(entry) - 1;
  }
}
