/**
 * Where rows are in the file: two tables instead of one for each kind of row, because the cost of a transaction is the
 * number of pages it touches (docs/decisions/0012-two-tables.md).
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

export const placeOf = (table: TableName): Place => (kept.has(table) ? "records" : "working");
