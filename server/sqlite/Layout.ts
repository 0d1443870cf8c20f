/**
 * Where rows are in the file: three tables instead of one for each kind of row, because the cost of a transaction is the
 * number of pages it touches (docs/decisions/0012-two-tables.md).
 */
import type { TableName } from "../../core/Tables.ts";

/**
 * `records` and `links` grow, with keys packed (PackedKey.ts) and rows in their form (RowForm.ts). Records are at the
 * end of their tree, and found by another; links are short, and in the order of their keys, so that these are there
 * once. `working` is small and stays so.
 */
export const places = ["records", "links", "working"] as const;
export type Place = (typeof places)[number];

/** What a table's rows have there: of those that grow a number, which never has another meaning. */
interface Placed {
  readonly place: Place;
  readonly name: number | string;
}

const record = (name: number) => ({ place: "records", name }) as const;
const link = (name: number) => ({ place: "links", name }) as const;

/** Each kind of row, and why it stays as long as it does: a new one has to say. None changes its place any more. */
const placed: { readonly [T in TableName]: Placed | "working" } = {
  // For ever: the registry itself, and how it is found.
  approvers: record(1),
  keys: link(2),
  terms: link(3),
  // Contract: each change is in a chain from the first.
  audit: record(4),
  // A restored peer takes what is certified, and no slot is ever bound twice.
  certificates: record(5),
  slots: link(6),
  strays: record(7),
  // Whatever others show of this peer is looked for among them, and a backup is judged by their chain.
  batches: record(8),
  // As long as a row that its transaction wrote.
  seals: record(9),
  // For ever: of passkeys, which approver has one, what was observed, and that no session makes two.
  credentials: "working",
  observations: "working",
  completions: "working",
  // Until an hour past their deadline.
  sessions: "working",
  // Until the proposal is decided, aborted by all, acknowledged by all.
  preparations: "working",
  refusals: "working",
  aborts: "working",
  outbox: "working",
  // One row, or one for each member or integrity key.
  peer: "working",
  vault: "working",
  integrity: "working",
  genesis: "working",
  topology: "working",
  counters: "working",
  seen: "working",
  restore: "working",
  readable: "working",
  indexed: "working",
  head: "working",
};

const placedByTable = new Map<string, Placed>(
  Object.entries(placed).map(([table, found]) => [
    table,
    found === "working" ? { place: "working", name: table } : found,
  ]),
);

/** Where rows of a table are; those of a module that is not of this program are with what changes. */
export const placedOf = (table: TableName): Placed => placedByTable.get(table) ?? { place: "working", name: table };
