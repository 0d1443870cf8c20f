/**
 * Where rows are in the file: two tables instead of one for each kind of row, because the cost of a transaction is the
 * number of pages it touches, and blocks beside them (docs/decisions/0038-blocks.md).
 */
import type { TableName } from "../../core/Tables.ts";

/** `records` grows at its end; `working` is small and stays so. */
export const places = ["records", "working"] as const;
export type Place = (typeof places)[number];

/** Written once and kept; a slot changes once more, while it is still at the end, where most seals go that go at all. */
const kept: ReadonlySet<TableName> = new Set([
  "batches",
  "slots",
  "approvers",
  "keys",
  "terms",
  "certificates",
  "audit",
  "strays",
  "seals",
]);

/** Seldom read and much alike: those of a transaction share blocks, deflated. */
const packed: ReadonlySet<TableName> = new Set(["batches", "slots", "certificates", "audit"]);
/** Long, unlike anything else, and read one at a time: each in a block of its own. */
const alone: ReadonlySet<TableName> = new Set(["seals"]);
/** Smaller ones stay in their rows, such as slots that are still to be replaced: a place in a block takes room too. */
const SMALLEST = 128;

/** How a row of so many bytes is kept: in its table, or in a block. */
export const formOf = (table: TableName, bytes: number): "inline" | "packed" | "alone" => {
  if (bytes < SMALLEST) return "inline";
  return packed.has(table) ? "packed" : alone.has(table) ? "alone" : "inline";
};

export const placeOf = (table: TableName): Place => (kept.has(table) ? "records" : "working");
