/** A backup that was accepted holds what its peer had stored at one moment after it was asked for, to the byte. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Effect } from "effect";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import { Violation } from "../../sim/base/Violation.ts";
import type { AcceptedBackup } from "./Backups.ts";
import { readTables } from "./FinalStore.ts";
import { keptOf, type Transaction } from "./Journal.ts";
import { differenceOf } from "./SameRows.ts";

const BLOCK = 512;
/** Where a header of ustar says how long its file is: in octal digits. */
const SIZE = [124, 135] as const;

/** The second file of a tar, which is the database; read without the product's own code. */
const databaseIn = (archive: Buffer): Buffer => {
  const sizeAt = (header: number): number =>
    Number.parseInt(archive.toString("latin1", header + SIZE[0], header + SIZE[1]), 8);
  const second = BLOCK + Math.ceil(sizeAt(0) / BLOCK) * BLOCK;
  return archive.subarray(second + BLOCK, second + BLOCK + sizeAt(second));
};

/** The rows in a backup. */
export const readBackup = async ({ file }: AcceptedBackup): Promise<MemoryTables> => {
  const directory = `${file}.unpacked`;
  mkdirSync(directory, { mode: 0o700 });
  try {
    writeFileSync(databaseFile(directory), databaseIn(readFileSync(file)), { mode: 0o600 });
    return await Effect.runPromise(readTables(directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/** Why a backup is not the database that the peer had at one moment of a process; undefined where it is. */
const faultOf = (
  { from, transactions: newest }: AcceptedBackup,
  tables: MemoryTables,
  made: ReadonlyArray<Transaction>,
): string | undefined => {
  const kept = keptOf(made);
  // One is committed at a time: when the next was begun, the one before had been.
  const asked = kept.findLastIndex(({ stamp }) => stamp <= from);
  const least = kept[asked - 1]?.number ?? 0;
  if (newest < least) return `it ends with transaction ${newest}, and ${least} was stored before it was asked for`;
  if (newest > (kept.at(-1)?.number ?? 0)) return `it ends with transaction ${newest}, which was never made`;
  return differenceOf(
    kept.filter(({ number }) => number <= newest),
    tables,
  );
};

/**
 * Throws {@link Violation} where a backup is not what its peer had.
 *
 * @param transactions all that the peer ever made durable, in order
 */
export const assertWholeBackup = (
  backup: AcceptedBackup,
  tables: MemoryTables,
  transactions: ReadonlyArray<Transaction>,
): void => {
  const [first, last] = backup.processes;
  const faults: Array<string> = [];
  // Which of its processes has made it is not known.
  for (let process = first; process <= last; process += 1) {
    const made = transactions.filter((each) => each.process <= process);
    const fault = faultOf(backup, tables, made);
    if (fault === undefined) return;
    faults.push(fault);
  }
  throw new Violation(
    "BACKUP",
    `custody backup verify accepts ${backup.file} of peer ${backup.slot}`,
    faults.join("; "),
  );
};
