/**
 * One thing changed somewhere in a message. The way down goes through records, lists and single values, each field as
 * likely as those beside it; on the way up everything that the liar's key can sign is signed anew. What the message's
 * own codec does not write cannot be sent.
 */
import { absurd } from "effect";
import { sameBytes } from "../../core/codec/Bytes.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { EncodeFault } from "../../core/codec/Codec.ts";
import { type Message, messagesIn } from "../../core/Message.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { Unit } from "../base/Choices.ts";
import { type Fields, type Hearsay, isFields, isHex } from "./Hearsay.ts";

/** No record has more fields, and no list is looked at further than this. */
const MOST_PARTS = 63;

/** What the codec goes by, and not fields of their own. */
const GIVEN: ReadonlySet<string> = new Set(["_tag", "version"]);

/** Signs a record of which one field was changed, as far as that is the liar's to sign. */
export type Sign = (before: Fields, after: Fields) => Fields;

interface Lying {
  readonly unit: Unit;
  readonly hearsay: Hearsay;
  readonly sign: Sign;
}

const numbers = ["another", "one more", "one less", "none", "far more", "far less"] as const;
const FAR: readonly [number, ...ReadonlyArray<number>] = [100, 1_000, 30_000, 70_000, 4_000_000, 2 ** 40];

const otherNumber = ({ unit, hearsay }: Lying, name: string, value: number): unknown => {
  const how = unit.named("becomes", "another", numbers, [4, 2, 2, 1, 1, 1]);
  switch (how) {
    case "another":
      return hearsay.another(unit, name, value) ?? value;
    case "one more":
      return value + 1;
    case "one less":
      return Math.max(0, value - 1);
    case "none":
      return 0;
    case "far more":
      return value + unit.oneOf("by", 100, FAR);
    case "far less":
      return Math.max(0, value - unit.oneOf("by", 100, FAR));
    default:
      return absurd(how);
  }
};

const texts = ["another", "of another field", "bent", "empty"] as const;

const otherText = ({ unit, hearsay }: Lying, name: string, value: string): unknown => {
  const how = unit.named("becomes", "another", texts, isHex(value) ? [5, 2, 2, 0] : [5, 0, 2, 1]);
  switch (how) {
    case "another":
      return hearsay.another(unit, name, value) ?? value;
    case "of another field":
      return hearsay.anyHex(unit, value.length) ?? value;
    case "bent":
      return `${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`;
    case "empty":
      return "";
    default:
      return absurd(how);
  }
};

const blobs = ["another", "bent", "shorter", "empty"] as const;

const otherBytes = ({ unit, hearsay }: Lying, name: string, value: Uint8Array): unknown => {
  const how = unit.named("becomes", "another", blobs, [4, 2, 1, 1]);
  switch (how) {
    case "another":
      return hearsay.another(unit, name, value) ?? value;
    case "bent":
      return value.map((byte, index) => (index === value.length - 1 ? byte ^ 1 : byte));
    case "shorter":
      return value.slice(1);
    case "empty":
      return new Uint8Array(0);
    default:
      return absurd(how);
  }
};

const lists = [
  "one changed",
  "one left out",
  "one twice",
  "one more",
  "two swapped",
  "empty",
  "one in another's place",
] as const;

const otherList = (lying: Lying, owner: Fields, name: string, items: ReadonlyArray<unknown>): unknown => {
  const { unit, hearsay } = lying;
  const how = unit.named(
    "becomes",
    "one changed",
    lists,
    items.length === 0 ? [0, 0, 0, 1, 0, 0, 0] : [12, 3, 2, 3, 2, 1, 3],
  );
  const at = unit.between("item", 0, 0, Math.min(MOST_PARTS, Math.max(0, items.length - 1)), 0, MOST_PARTS);
  switch (how) {
    case "one changed":
      return items.map((item, index) => (index === at ? otherValue(lying, owner, name, item) : item));
    case "one left out":
      return items.toSpliced(at, 1);
    case "one twice":
      return items.flatMap((item, index) => (index === at ? [item, item] : [item]));
    case "one more": {
      const item = hearsay.item(unit, owner, name);
      return item === undefined ? items : items.toSpliced(at, 0, item);
    }
    case "two swapped":
      return items.map((item, index) => (index === at ? items[0] : index === 0 ? items[at] : item));
    case "empty":
      return [];
    // As long as before, with one member's word standing for two.
    case "one in another's place":
      return items.map((item, index) => (index === at ? items[(at + 1) % items.length] : item));
    default:
      return absurd(how);
  }
};

/** A record with one field changed. */
const otherFields = (lying: Lying, fields: Fields): Fields => {
  const names = Object.keys(fields).filter((name) => !GIVEN.has(name));
  const name = names[lying.unit.between("field", 0, 0, Math.max(0, names.length - 1), 0, MOST_PARTS)];
  if (name === undefined) return fields;
  const value = fields[name];
  const isLeftOut = lying.hearsay.isOptional(fields, name) && lying.unit.chance("is left out", 300);
  const other = isLeftOut ? undefined : otherValue(lying, fields, name, value);
  return other === value ? fields : lying.sign(fields, { ...fields, [name]: other });
};

const otherValue = (lying: Lying, owner: Fields, name: string, value: unknown): unknown => {
  const { unit, hearsay } = lying;
  if (Array.isArray(value)) return otherList(lying, owner, name, value);
  if (value instanceof Uint8Array) return otherBytes(lying, name, value);
  switch (typeof value) {
    case "number":
      return otherNumber(lying, name, value);
    case "string":
      return otherText(lying, name, value);
    case "boolean":
      return !value;
    default:
  }
  if (isFields(value) && !unit.chance("as a whole", 200)) return otherFields(lying, value);
  return hearsay.another(unit, name, value) ?? value;
};

/** The message with one thing changed; undefined where that is no message any more, or the same one. */
export const falsified = (
  composition: Composition,
  message: Message,
  unit: Unit,
  hearsay: Hearsay,
  sign: Sign,
): Message | undefined => {
  const before: Fields = { ...message };
  try {
    const fields = otherFields({ unit, hearsay, sign }, before);
    // Whether these fields are a message is what the codec is asked.
    const after = fields as unknown as Message;
    const codec = messagesIn(composition, composition.versions.highest);
    return sameBytes(encode(codec, message), encode(codec, after)) ? undefined : after;
  } catch (fault) {
    // Records with the same fields may differ in which of them may be absent.
    if (fault instanceof EncodeFault || fault instanceof TypeError) return undefined;
    throw fault;
  }
};
