/** The messages between the main thread and the writing thread. */
import type { TableName } from "../../core/Tables.ts";
import type { Change } from "../../runtime/ByteStore.ts";
import { isErased, leavesLog, LEAD_BYTES, type Place, placeOf } from "./Layout.ts";
import type { StoreOpenReason } from "./StoreOpenError.ts";

/** The arguments of the writing thread. */
export interface WriterOptions {
  readonly file: string;
  readonly flushDelayMillis: number;
  /** How often the log is tried to be emptied of what was erased; each time waits for readers as long as `busy_timeout`. */
  readonly emptyingAttempts: number;
}

/** All rows of one place that one transaction changes in one way. */
export interface RowGroup {
  readonly op: Change["op"];
  readonly place: Place;
  readonly tables: ReadonlyArray<TableName>;
  readonly keys: ReadonlyArray<string>;
  /** Lengths of row and seal of each key, in turn; empty for `remove`. */
  readonly lengths: ReadonlyArray<number>;
}

/** One transaction. The rows of all groups lie one after the other in `bytes`, which changes hands without a copy. */
export interface CommitRequest {
  readonly kind: "commit";
  readonly groups: ReadonlyArray<RowGroup>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether it takes away what must be gone before it is acknowledged, from the log too. */
  readonly erases: boolean;
  /** Whether a share is gone for good with it, so that no copy may have it still. */
  readonly takesAway: boolean;
}

export type WriterRequest = CommitRequest | { readonly kind: "adopt" } | { readonly kind: "close" };

export type WriterReply =
  | { readonly kind: "opened" }
  | {
      readonly kind: "refused";
      readonly reason: StoreOpenReason;
      readonly file: string;
      readonly detail?: string | undefined;
    }
  | { readonly kind: "committed" }
  | { readonly kind: "failed"; readonly why: string }
  /** A file of the open database, by its name, was deleted, moved or replaced. */
  | { readonly kind: "lost"; readonly file: string }
  | { readonly kind: "closed" };

interface GrowingGroup {
  readonly op: Change["op"];
  readonly place: Place;
  readonly tables: Array<TableName>;
  readonly keys: Array<string>;
  readonly lengths: Array<number>;
  readonly parts: Array<Uint8Array>;
}

const groupChanges = (changes: ReadonlyArray<Change>): ReadonlyArray<GrowingGroup> => {
  const groups = new Map<string, GrowingGroup>();
  for (const change of changes) {
    const { op, table } = change;
    const place = placeOf(table);
    const id = `${op} ${place}`;
    const group = groups.get(id) ?? { op, place, tables: [], keys: [], lengths: [], parts: [] };
    groups.set(id, group);
    group.tables.push(table);
    group.keys.push(change.key);
    if (change.op === "remove") continue;
    const { row, seal } = change.value;
    const lead = isErased(table) ? LEAD_BYTES : 0;
    group.lengths.push(lead + row.length, seal.length);
    if (lead > 0) group.parts.push(new Uint8Array(lead));
    group.parts.push(row, seal);
  }
  return [...groups.values()];
};

/** Whether a share is nowhere after these changes: one that was pending may go on as the share of its generation. */
const takesAway = (changes: ReadonlyArray<Change>): boolean => {
  const here = new Set(changes.flatMap(({ op, table, key }) => (op !== "remove" && table === "shares" ? [key] : [])));
  return changes.some(
    ({ op, table, key }) =>
      op !== "insert" && (table === "shares" || (table === "pending" && !(op === "remove" && here.has(key)))),
  );
};

/** Groups the changes and copies their bytes into one block: half the cost of sending each array by itself. */
export const commitRequest = (changes: ReadonlyArray<Change>): CommitRequest => {
  const groups = groupChanges(changes);
  const parts = groups.flatMap((group) => group.parts);
  const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return {
    kind: "commit",
    groups: groups.map(({ op, place, tables, keys, lengths }) => ({ op, place, tables, keys, lengths })),
    bytes,
    erases: changes.some(({ op, table }) => op !== "insert" && leavesLog(table)),
    takesAway: takesAway(changes),
  };
};
