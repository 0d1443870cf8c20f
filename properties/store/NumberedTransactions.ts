/** Transactions whose whole effect follows from their number, so that any disk can be checked for parts of one. */
import { type TableName } from "../../core/Tables.ts";
import { numberKey, SELF } from "../../core/protocol/Tables.ts";
import type { ByteStore, Change, StoredRow } from "../../runtime/ByteStore.ts";

const rowsEach = 4;
/** Rows of the table whose old rows are removed again. */
const kept = 3;

const stored = (number: number, part: number): StoredRow => ({
  row: new Uint8Array((number * 37 + part * 1009) % 5000).fill((number + part) % 256),
  seal: new Uint8Array(64).fill(number % 256),
});

const headRow = (number: number): StoredRow => ({ row: Buffer.from(String(number)), seal: new Uint8Array(64) });

const recordKey = (number: number, part: number): string => `${numberKey(number)}.${part}`;

/** Inserts into three tables, replaces the row that counts, and removes what is older than three transactions. */
export const numberedTransaction = (number: number): ReadonlyArray<Change> => {
  const changes: Array<Change> = [];
  for (let part = 0; part < rowsEach; part++) {
    changes.push({ op: "insert", table: "approvers", key: recordKey(number, part), value: stored(number, part) });
  }
  changes.push({ op: "insert", table: "keys", key: numberKey(number), value: stored(number, rowsEach) });
  changes.push({ op: "insert", table: "outbox", key: numberKey(number), value: stored(number, rowsEach) });
  if (number > kept) changes.push({ op: "remove", table: "outbox", key: numberKey(number - kept) });
  changes.push({ op: number === 1 ? "insert" : "replace", table: "head", key: SELF, value: headRow(number) });
  return changes;
};

/** The number of the last transaction on the disk, from 0. */
export const lastTransaction = (store: ByteStore): number => {
  const head = store.get("head", SELF);
  return head === undefined ? 0 : Number(Buffer.from(head.row).toString());
};

const pageRows = 500;

const countRows = (store: ByteStore, table: TableName): number => {
  let rows = 0;
  let page = store.scan(table, "", pageRows);
  for (; page.length > 0; page = store.scan(table, page[page.length - 1]?.key ?? "", pageRows)) rows += page.length;
  return rows;
};

const same = (found: StoredRow | undefined, expected: StoredRow): boolean =>
  found !== undefined &&
  Buffer.compare(found.row, expected.row) === 0 &&
  Buffer.compare(found.seal, expected.seal) === 0;

/** The differences from a disk with exactly the transactions 1 to `last`; empty when there are none. */
export const differences = (store: ByteStore, last: number): ReadonlyArray<string> => {
  const found: Array<string> = [];
  const expect = (table: TableName, key: string, expected: StoredRow): void => {
    if (!same(store.get(table, key), expected)) found.push(`${table} ${key}`);
  };
  for (let number = 1; number <= last; number++) {
    for (let part = 0; part < rowsEach; part++) expect("approvers", recordKey(number, part), stored(number, part));
    expect("keys", numberKey(number), stored(number, rowsEach));
    if (number > last - kept) expect("outbox", numberKey(number), stored(number, rowsEach));
  }
  const counts = { approvers: last * rowsEach, keys: last, outbox: Math.min(last, kept) };
  for (const table of ["approvers", "keys", "outbox"] as const) {
    const rows = countRows(store, table);
    if (rows !== counts[table]) found.push(`${table} has ${rows} rows, not ${counts[table]}`);
  }
  return found;
};
