/**
 * A range of rows as it was, made out of two contents of one disk by somebody without keys: what is stored of ranges is
 * no secret.
 */
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { rowCodec, type Rows, type TableName } from "../../core/Tables.ts";
import type { StoredRow } from "../../runtime/ByteStore.ts";
import { OPEN } from "../../runtime/Ranges.ts";

export type Content = ReadonlyMap<TableName, ReadonlyMap<string, StoredRow>>;

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

/** Those that begin at a name or above it, and below another one or before the end. */
const piecesIn = (ranges: ReadonlyArray<StoredRange>, from: string, end: string | undefined) =>
  ranges.filter(({ after }) => after >= from && (end === undefined || after < end));

/**
 * Number `at` of the stretches that begin and end with a range then and now, and had other rows, or were cut in other
 * places. Of an open range nothing is stored that could be put back, and the rows of seals hang together.
 */
export const changedRange = (before: Content, now: Content, at: number): OlderRange | undefined => {
  const [then, newest] = [rangesIn(before), rangesIn(now)];
  const borders = newest.map(({ after }) => after).filter((name) => then.some(({ after }) => after === name));
  const changed = borders.flatMap((from, index) => {
    const end = borders[index + 1];
    const [old, pieces] = [piecesIn(then, from, end), piecesIn(newest, from, end)];
    if (old.every(({ digest }, place) => digest === pieces[place]?.digest) && old.length === pieces.length) return [];
    if ([...old, ...pieces].some(({ digest }) => digest === OPEN)) return [];
    const has = (table: TableName, key: string): boolean => {
      const name = `${table}/${key}`;
      return table !== "head" && table !== "ranges" && name > from && (end === undefined || name <= end);
    };
    const hasSeals = [before, now].some((content) =>
      [...(content.get("seals")?.keys() ?? [])].some((key) => has("seals", key)),
    );
    const gone = pieces.filter(({ after }) => old.every((each) => each.after !== after));
    return hasSeals ? [] : [{ has, ranges: [...old, ...gone.map((range) => ({ ...range, rows: 0 }))] }];
  });
  const hit = changed[at % Math.max(1, changed.length)];
  if (hit === undefined) return undefined;
  return { has: hit.has, stored: { row: encode(codec, { ranges: hit.ranges }), seal: new Uint8Array(0) } };
};
