/**
 * Reads values out of an item that is decoded already, and names what does not fit. Slow and talkative where
 * {@link StrictSource} is quick and mute: it is asked why bytes were refused.
 */
import { fitsText } from "./Codec.ts";
import { bytesToHex } from "@noble/hashes/utils.js";
import { DecodeFault, type Source, textOf } from "./Source.ts";

export class ItemSource implements Source {
  /** What follows, the next item last. A field that is not there is undefined, which no item is. */
  readonly #pending: Array<unknown>;

  /** @param item as {@link decodeItem} makes it */
  constructor(item: unknown) {
    this.#pending = [item];
  }

  uint(): number {
    const item = this.#pending.pop();
    if (typeof item !== "number" || !Number.isSafeInteger(item) || item < 0)
      throw new DecodeFault("an unsigned integer");
    return item;
  }

  index(): number {
    const item = this.#pending.pop();
    return typeof item === "number" ? item : -1;
  }

  text(max: number): string {
    const item = this.#pending.pop();
    if (typeof item !== "string" || !fitsText(item, max)) throw new DecodeFault(textOf(max));
    return item;
  }

  bytes(max: number): Uint8Array {
    const item = this.#pending.pop();
    if (!(item instanceof Uint8Array) || item.length > max) throw new DecodeFault(`at most ${max} bytes`);
    return item;
  }

  hex(length: number): string {
    const item = this.#pending.pop();
    if (!(item instanceof Uint8Array) || item.length !== length) throw new DecodeFault(`${length} bytes`);
    return bytesToHex(item);
  }

  bool(): boolean {
    const item = this.#pending.pop();
    if (typeof item !== "boolean") throw new DecodeFault("a boolean");
    return item;
  }

  nothing(): boolean {
    if (this.#pending.at(-1) !== null) return false;
    this.#pending.pop();
    return true;
  }

  list(max: number): number {
    const item = this.#pending.pop();
    if (!Array.isArray(item) || item.length > max) throw new DecodeFault(`a list of at most ${max} items`);
    return this.#follow(item);
  }

  pair(): void {
    const item = this.#pending.pop();
    if (!Array.isArray(item) || item.length !== 2) throw new DecodeFault("a pair");
    this.#follow(item);
  }

  record(count: number): void {
    const item = this.#pending.pop();
    if (!(item instanceof Map) || item.size !== count) throw new DecodeFault(`a record of ${count} fields`);
    this.#follow(Array.from({ length: count }, (_, key): unknown => item.get(key)));
  }

  field(): void {
    if (this.#pending.at(-1) === undefined) throw new DecodeFault("the field to be present");
  }

  #follow(items: ReadonlyArray<unknown>): number {
    for (let index = items.length - 1; index >= 0; index--) this.#pending.push(items[index]);
    return items.length;
  }
}
