/** A database holds exactly what transactions made of it. */
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

/** The first row that differs between a database and the transactions that were kept, all from the first; undefined where none does. */
export const differenceOf = (transactions: ReadonlyArray<Transaction>, tables: MemoryTables): string | undefined => {
  const expected = folded(transactions);
  const found = stored(tables);
  for (const [name, row] of expected) {
    const other = found.get(name);
    if (other === undefined) return `row ${name} was made durable, and it is not in its database`;
    if (!isSame(row, other)) return `row ${name} was made durable, and its database has another`;
  }
  const foreign = [...found.keys()].find((name) => !expected.has(name));
  return foreign && `row ${foreign} was never stored, and it is in its database`;
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
  const difference = differenceOf(transactions, tables);
  if (difference !== undefined) throw new Violation("STORE", `the rows of peer ${slot}`, difference);
};
