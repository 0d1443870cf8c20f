/** A peer's database holds exactly what its transactions made of it. */
import type { TableName } from "../../core/Tables.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { keptOf, type Transaction } from "./Journal.ts";

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;

/** Table and key to the bytes of the row, after all transactions. */
const folded = (transactions: ReadonlyArray<Transaction>): ReadonlyMap<string, Uint8Array> => {
  const rows = new Map<string, Uint8Array>();
  for (const transaction of transactions)
    for (const [table, key, row] of transaction.rows) {
      if (row === undefined) rows.delete(`${table}/${key}`);
      else rows.set(`${table}/${key}`, row);
    }
  return rows;
};

const stored = (tables: MemoryTables): ReadonlyMap<string, Uint8Array> => {
  const named = ([table, rows]: [TableName, MemoryTables extends Map<TableName, infer R> ? R : never]) =>
    [...rows].map(([key, { row }]) => [`${table}/${key}`, row] as const);
  return new Map([...tables].flatMap(named));
};

/** Throws {@link Violation} at the first transaction that is missing, or row that differs. */
export const assertSameRows = (slot: number, made: ReadonlyArray<Transaction>, tables: MemoryTables): void => {
  const transactions = keptOf(made);
  for (const [index, { number }] of transactions.entries())
    if (number !== index + 1)
      throw new Violation(
        "STORE",
        `peer ${slot} has transaction ${number}`,
        `no process wrote transaction ${index + 1}`,
      );
  const expected = folded(transactions);
  const found = stored(tables);
  for (const [name, row] of expected) {
    const other = found.get(name);
    if (other === undefined || !isSame(row, other))
      throw new Violation(
        "STORE",
        `peer ${slot} made row ${name} durable`,
        other === undefined ? "it is not in its database" : "its database has another",
      );
  }
  for (const name of found.keys())
    if (!expected.has(name))
      throw new Violation("STORE", `peer ${slot} never stored row ${name}`, "it is in its database");
};
