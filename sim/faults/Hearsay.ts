/**
 * What a liar has seen in messages, its own and others', by the field that it stood in. Its lies are made of this:
 * another proposal's id, another member, an older number, a vote about something else.
 */
import type { Message } from "../../core/Message.ts";
import type { Unit } from "../base/Choices.ts";

/** The newest values of a field. */
const KEPT = 8;
/** Items of one list that are looked at. */
const LOOKED_AT = 4;
/** There are fewer kinds of messages. */
const MOST_KINDS = 64;
/** Of 32 or 64 bytes, or of the 8 that stand for them in bulk runs. */
const HEX = /^(?:[0-9a-f]{16}|[0-9a-f]{64}|[0-9a-f]{128})$/u;

export interface Fields {
  readonly [name: string]: unknown;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** A digest, a public key or a signature. */
export const isHex = (value: unknown): value is string => typeof value === "string" && HEX.test(value);

/** The kind of a record: by its variant, or by the names of its fields. */
const kindOf = (fields: Fields): string =>
  typeof fields["_tag"] === "string" ? fields["_tag"] : Object.keys(fields).toSorted().join(" ");

/** Values of one place can stand for each other: records of a kind, other values of one name. */
const placeOf = (name: string, value: unknown): string => {
  if (isHex(value)) return `${value.length} ${name}`;
  if (value instanceof Uint8Array) return `bytes ${name}`;
  if (!isFields(value)) return `${typeof value} ${name}`;
  return "_tag" in value ? `variant ${name}` : kindOf(value);
};

const keep = <A>(known: Map<string, Array<A>>, place: string, value: A): boolean => {
  const all = known.get(place) ?? [];
  if (all.includes(value)) return false;
  known.set(place, all);
  all.unshift(value);
  all.splice(KEPT);
  return true;
};

const oneOf = <A>(unit: Unit, all: ReadonlyArray<A> = []): A | undefined =>
  all[unit.between("which", 0, 0, Math.max(0, all.length - 1), 0, KEPT - 1)];

export class Hearsay {
  readonly #values = new Map<string, Array<unknown>>();
  readonly #items = new Map<string, Array<unknown>>();
  /** Fields that were absent in some message, and so may be. */
  readonly #optional = new Set<string>();
  readonly #messages = new Map<string, Array<Message>>();

  /** Takes note of everything in a message. */
  note(message: Message): void {
    if (keep(this.#messages, message._tag, message)) this.#noteFields({ ...message });
  }

  #noteFields(fields: Fields): void {
    const kind = kindOf(fields);
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) this.#optional.add(`${kind}.${name}`);
      else if (Array.isArray(value)) this.#noteItems(`${kind}.${name}`, name, value);
      else if (name !== "_tag") this.#note(name, value);
    }
  }

  #noteItems(list: string, name: string, items: ReadonlyArray<unknown>): void {
    for (const item of items.slice(0, LOOKED_AT)) {
      keep(this.#items, list, item);
      this.#note(name, item);
    }
  }

  #note(name: string, value: unknown): void {
    const isNew = keep(this.#values, placeOf(name, value), value);
    if (isHex(value)) keep(this.#values, `${value.length}`, value);
    if (isNew && isFields(value)) this.#noteFields(value);
  }

  /** Whether this field of such a record may be absent. */
  isOptional(fields: Fields, name: string): boolean {
    return this.#optional.has(`${kindOf(fields)}.${name}`);
  }

  /** Another value for a field; undefined where none is known. */
  another(unit: Unit, name: string, value: unknown): unknown {
    return oneOf(unit, this.#values.get(placeOf(name, value)));
  }

  /** A digest or signature that stood in any field. */
  anyHex(unit: Unit, length: number): unknown {
    return oneOf(unit, this.#values.get(`${length}`));
  }

  /** An item for a list; undefined where none is known. */
  item(unit: Unit, fields: Fields, list: string): unknown {
    return oneOf(unit, this.#items.get(`${kindOf(fields)}.${list}`));
  }

  /** One of the newest messages of a kind, whoever said it; undefined before there was any. */
  message(unit: Unit): Message | undefined {
    const kinds = [...this.#messages.values()];
    const kind = kinds[unit.between("kind", 0, 0, Math.max(0, kinds.length - 1), 0, MOST_KINDS)];
    return oneOf(unit, kind);
  }
}
