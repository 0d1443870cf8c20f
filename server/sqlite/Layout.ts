/**
 * Where rows are in the file: two tables instead of one for each kind of row, because the cost of a transaction is the
 * number of pages it touches (docs/decisions/0012-two-tables.md).
 */
import type { TableName } from "../../core/Tables.ts";

/** `records` grows at its end; `working` is small and stays so. */
export const places = ["records", "working"] as const;
export type Place = (typeof places)[number];

/** Each kind of row, and why it stays as long as it does: a new one has to say. None changes its place any more. */
const placed: { readonly [T in TableName]: Place } = {
  // For ever: the registry itself, and how it is found.
  approvers: "records",
  keys: "records",
  terms: "records",
  // Contract: each change is in a chain from the first.
  audit: "records",
  // A restored peer takes what is certified, and no slot is ever bound twice.
  certificates: "records",
  slots: "records",
  strays: "records",
  // Whatever others show of this peer is looked for among them, and a backup is judged by their chain.
  batches: "records",
  // For ever: which keys there are.
  custodyKeys: "records",
  generations: "records",
  // Until an hour past their deadlines, of which one row keeps the latest; many, where much is signed.
  consents: "records",
  consentFloor: "working",
  // As long as a row that its transaction wrote.
  seals: "records",
  // For ever: of passkeys, which approver has one, what was observed, and that no session makes two.
  credentials: "working",
  observations: "working",
  completions: "working",
  // Until their generation is erased; until it is decided.
  shares: "working",
  pending: "working",
  // Until an hour past their deadline.
  sessions: "working",
  // Until the proposal is decided, aborted by all, acknowledged by all.
  preparations: "working",
  refusals: "working",
  aborts: "working",
  outbox: "working",
  // One row, or one for each member, epoch or integrity key.
  peer: "working",
  vault: "working",
  integrity: "working",
  genesis: "working",
  topology: "working",
  epochs: "working",
  promotion: "working",
  transfer: "working",
  counters: "working",
  seen: "working",
  restore: "working",
  readable: "working",
  indexed: "working",
  head: "working",
  ranges: "working",
};

const placeByTable = new Map<string, Place>(Object.entries(placed));

/** Where rows of a table are; those of a module that is not of this program are with what changes. */
export const placeOf = (table: TableName): Place => placeByTable.get(table) ?? "working";

/** Rows that must be gone from the file and its log once they are removed or replaced: shares of keys. */
const erased: ReadonlySet<TableName> = new Set<TableName>(["shares", "pending"]);

export const isErased = (table: TableName): boolean => erased.has(table);

/** Rows that must be gone from the log, too, before whatever replaces them counts: with an old vault old shares open. */
const outdated: ReadonlySet<TableName> = new Set<TableName>(["vault"]);

/** Whether the log is to be emptied when a row of the table is removed or replaced. */
export const leavesLog = (table: TableName): boolean => isErased(table) || outdated.has(table);

/**
 * What stands before such a row in its cell: more than a page keeps of a cell (docs/decisions/0044-erasure.md). The rest
 * lies in pages of its own, which SQLite never copies and overwrites with zeros when the row goes; of rows inside a
 * page it leaves copies behind wherever it moves one.
 */
export const LEAD_BYTES = 4096;
