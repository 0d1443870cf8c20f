/** The policy of a key: m of these n approve (contract 2.6). */
import { Limits } from "../base/Limits.ts";
import { checked, described, integer, list, object, type Shape, word } from "../codec/Shape.ts";
import { type Entry, entryShape, type Pin, type SubmittedKey } from "./Entry.ts";

/** LENIENT protects changes of the key, STRICT its use too (contract 10.7). */
export type FourEyeMode = "LENIENT" | "STRICT";

export interface FourEye<E = Entry> {
  readonly mode: FourEyeMode;
  readonly m: number;
  readonly n: number;
  /** `n` of them. */
  readonly keys: ReadonlyArray<E>;
}

const count = integer(1, Limits.policyEntries);

const members = object({
  mode: word(["LENIENT", "STRICT"], "Use LENIENT or STRICT."),
  m: described("So many must approve; at most n.", count),
  n: described("The number of keys.", count),
  keys: list(entryShape, { most: Limits.policyEntries }),
});

/** The member `fourEye`. */
export const fourEyeShape: Shape<FourEye<Pin | SubmittedKey>> = checked(members, ({ m, n }, source, place) => {
  if (n === undefined) return;
  if (m !== undefined && m > n) place.member("m").fault("invalid_value", "m may be at most n.");
  const keys = source.get("keys");
  if (Array.isArray(keys) && keys.length !== n)
    place.member("keys").fault("wrong_count", "There must be exactly n keys.");
});
