/**
 * A range of rows as it was, made out of two contents of one disk by somebody without keys: what is stored of ranges is
 * no secret.
 */
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { rowCodec, type Rows, type TableName } from "../../core/Tables.ts";
import type { StoredRow } from "../../runtime/ByteStore.ts";

type Content = ReadonlyMap<TableName, ReadonlyMap<string, StoredRow>>;

type StoredRange = Rows["ranges"]["ranges"][number];

export interface OlderRange {
  /** Whether a row belongs to it. */
  readonly has: (table: TableName, key: string) => boolean;
  /** What was stored of it. */
  readonly stored: StoredRow;
}

const codec = rowCodec("ranges");

/** What rows say of ranges, the later ones in place of the earlier ones. */
const rangesIn = (content: Content): ReadonlyArray<StoredRange> => {
  const found = new Map<string, StoredRange>();
  const rows = [...(content.get("ranges") ?? [])].toSorted(([left], [right]) => (left < right ? -1 : 1));
  for (const [, { row }] of rows)
    for (const range of Either.getOrElse(decode(codec, row), (): Rows["ranges"] => ({ ranges: [] })).ranges)
      if (range.rows > 0 || range.after === "") found.set(range.after, range);
      else found.delete(range.after);
  return [...found.values()].toSorted((left, right) => (left.after < right.after ? -1 : 1));
};

/** Number `at` of the ranges that begin and end where they did and have other rows; those of seals hang together. */
export const changedRange = (before: Content, now: Content, at: number): OlderRange | undefined => {
  const then = rangesIn(before);
  const changed = rangesIn(now).flatMap(({ after, digest }, index, all) => {
    const place = then.findIndex((each) => each.after === after);
    const old = then[place];
    const end = all[index + 1]?.after;
    if (old === undefined || old.digest === digest || then[place + 1]?.after !== end) return [];
    const has = (table: TableName, key: string): boolean => {
      const name = `${table}/${key}`;
      return table !== "head" && table !== "ranges" && name > after && (end === undefined || name <= end);
    };
    const hasSeals = [before, now].some((content) =>
      [...(content.get("seals")?.keys() ?? [])].some((key) => has("seals", key)),
    );
    return hasSeals ? [] : [{ has, old }];
  });
  const hit = changed[at % Math.max(1, changed.length)];
  if (hit === undefined) return undefined;
  return { has: hit.has, stored: { row: encode(codec, { ranges: [hit.old] }), seal: new Uint8Array(0) } };
};
