/**
 * The transactions of one peer over all its processes, as they became durable. The journal holds those handed to the
 * writing thread; the number of one that a crash or a failed flush undid is used again by the next.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deserialize } from "node:v8";
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import { rowCodec, type TableName, type Write } from "../../core/Tables.ts";
import { HEAD_SEAL_VERSION, sealCodec } from "../../runtime/RowSeal.ts";
import { isErased, LEAD_BYTES } from "../../server/sqlite/Layout.ts";
import type { CommitRequest } from "../../server/sqlite/WriterMessage.ts";
import { journalProcess, unframed } from "./PortFiles.ts";

export interface JournalRecord extends Pick<CommitRequest, "groups" | "bytes"> {
  /** Microseconds on the clock that all processes of this machine share, before the transaction began. */
  readonly stamp: number;
}

/** A transaction that became durable. */
export interface Transaction {
  /** As the store counts them, from 1. */
  readonly number: number;
  /** Which process of the peer, from 1. */
  readonly process: number;
  readonly stamp: number;
  readonly writes: ReadonlyArray<Write>;
  /** The same as bytes, by table and key; undefined where the row was removed. */
  readonly rows: ReadonlyArray<readonly [table: TableName, key: string, row: Uint8Array | undefined]>;
}

interface ByteChange {
  readonly op: Write["op"];
  readonly table: TableName;
  readonly key: string;
  readonly row: Uint8Array;
  readonly seal: Uint8Array;
}

const NONE = new Uint8Array(0);

/** Row changes in the order of their groups. */
const changesOf = ({ groups, bytes }: JournalRecord): ReadonlyArray<ByteChange> => {
  let offset = 0;
  const take = (length: number): Uint8Array => bytes.subarray(offset, (offset += length));
  return groups.flatMap(({ op, tables, keys, lengths }) =>
    keys.flatMap((key, index): ReadonlyArray<ByteChange> => {
      const table = tables[index];
      if (table === undefined) return [];
      const [cell = NONE, seal = NONE] = lengths.slice(2 * index, 2 * index + 2).map(take);
      const row = isErased(table) ? cell.subarray(LEAD_BYTES) : cell;
      return [{ op, table, key, row, seal }];
    }),
  );
};

const writeOf = <T extends TableName>(op: Write["op"], table: T, key: string, bytes: Uint8Array): Write => {
  // One of the variants of Write for each table: the compiler cannot see it for a table it does not know.
  if (op === "remove") return { op, table, key } as Write;
  return { op, table, key, row: Either.getOrThrow(decode(rowCodec(table), bytes)) } as unknown as Write;
};

/** As a step writes them, what others are judged by last; a journal keeps only the order within a kind of change. */
const rank = ({ table }: ByteChange): number =>
  table === "batches" ? 0 : table === "counters" || table === "integrity" ? 2 : 1;

const numberOf = (changes: ReadonlyArray<ByteChange>): number => {
  const head = changes.find(({ table }) => table === "head");
  if (head === undefined) throw new Error("a transaction without the head of the store");
  return Either.getOrThrow(decode(sealCodec, head.seal, HEAD_SEAL_VERSION)).transaction;
};

/** A record as the transaction it stands for, durable or not. */
export const transactionOf = (record: JournalRecord, process: number): Transaction => {
  const changes = changesOf(record);
  const rows = changes
    .filter(({ table }) => table !== "head" && table !== "seals" && table !== "ranges")
    .toSorted((left, right) => rank(left) - rank(right));
  return {
    number: numberOf(changes),
    process,
    stamp: record.stamp,
    writes: rows.map(({ op, table, key, row }) => writeOf(op, table, key, row)),
    rows: changes.map(({ op, table, key, row }) => [table, key, op === "remove" ? undefined : row] as const),
  };
};

/**
 * Those of the begun transactions that became durable: of several with one number the last, and none beyond the number
 * that the database has reached.
 */
export const durableOf = (begun: ReadonlyArray<Transaction>, newest: number): ReadonlyArray<Transaction> => {
  const byNumber = new Map<number, Transaction>();
  for (const each of begun) byNumber.set(each.number, each);
  return [...byNumber.values()]
    .filter(({ number }) => number <= newest)
    .toSorted((left, right) => left.number - right.number);
};

/** A database that was replaced by an older one. */
export interface Replaced {
  /** The last process that worked on it, from 1. */
  readonly process: number;
  /** The number of its last transaction. */
  readonly newest: number;
}

/** All transactions that a peer handed to its writing thread, durable or not. */
export const begunIn = (folder: string): ReadonlyArray<Transaction> => {
  const begun: Array<Transaction> = [];
  for (const name of readdirSync(folder).toSorted()) {
    const process = journalProcess(name);
    if (process === undefined) continue;
    for (const frame of unframed(new Uint8Array(readFileSync(join(folder, name)))))
      begun.push(transactionOf(deserialize(frame), process));
  }
  return begun;
};

/**
 * The transactions of a peer that were durable at some time, in order: where an older database was put back, its
 * numbers begin again behind the last one in that.
 *
 * @param newest the number of the last transaction in its database as it is now
 * @param replaced the databases before that, in order
 */
export const readJournal = (
  folder: string,
  newest: number,
  replaced: ReadonlyArray<Replaced> = [],
): ReadonlyArray<Transaction> => {
  const begun = begunIn(folder);
  const databases = [...replaced, { process: Number.POSITIVE_INFINITY, newest }];
  return databases.flatMap((database, index) => {
    const before = databases[index - 1]?.process ?? 0;
    return durableOf(
      begun.filter(({ process }) => process > before && process <= database.process),
      database.newest,
    );
  });
};

/**
 * Of transactions in the order in which they were made, those that a database still has: one with the number of an
 * earlier one was made on a database without that.
 */
export const keptOf = <A extends Pick<Transaction, "number">>(made: ReadonlyArray<A>): ReadonlyArray<A> => {
  const kept: Array<A> = [];
  for (const each of made) {
    while ((kept.at(-1)?.number ?? 0) >= each.number) kept.pop();
    kept.push(each);
  }
  return kept;
};
