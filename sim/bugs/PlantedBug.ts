/** What a planted bug is, and how it changes rows on their way to a disk. */
import type { Digest, Entropy } from "../../core/base/Digest.ts";
import type { Rows, TableName, Write } from "../../core/Tables.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import type { Tier } from "../base/Tier.ts";
import type { TamperedWorld, Tampering } from "../world/Tampering.ts";

export interface PlantedBug {
  readonly name: string;
  /** What it changes. */
  readonly changes: string;
  /** The invariant that must find it. */
  readonly finds: string;
  /** Others that it breaks too: any change to the core may alter which one the first failing seed meets first. */
  readonly orFinds?: ReadonlyArray<string>;
  /** Where it shows; by default `calm`, with three peers. */
  readonly schedule?: ScheduleName;
  readonly peers?: number;
  /** Events before everything is healed; by default 1,200. */
  readonly steps?: number;
  /** How much is computed as on a real peer; by default `fast`. */
  readonly crypto?: Tier;
  readonly tampering: () => Tampering;
}

/** Whether a violation of this invariant is what the bug had to lead to. */
export const isFoundAs = ({ finds, orFinds = [] }: PlantedBug, id: string | undefined): boolean =>
  id !== undefined && [finds, ...orFinds].includes(id);

/** Changes the rows of one table on their way to disk. */
export const rows =
  <T extends TableName>(table: T, change: (row: Rows[T], key: string, world: TamperedWorld) => Rows[T]) =>
  (): Tampering => ({
    written: (world, _peer, writes) =>
      writes.map((write): Write => {
        if (write.table !== table || write.op === "remove") return write;
        // The table's name was compared just now, so the row is of its type.
        const changed = { ...write, row: change(write.row as Rows[T], write.key, world) };
        return changed as unknown as Write;
      }),
  });

/** Takes some rows out of every transaction. */
export const without = (isDropped: (write: Write) => boolean) => (): Tampering => ({
  written: (_world, _peer, writes) => writes.filter((write) => !isDropped(write)),
});

/** Adds rows to a transaction that makes a preparation. */
export const besidePreparation =
  (more: (row: Rows["preparations"], key: string) => ReadonlyArray<Write>) => (): Tampering => ({
    written: (_world, _peer, writes) => [
      ...writes,
      ...writes.flatMap((write) =>
        write.table === "preparations" && write.op === "insert" ? more(write.row, write.key) : [],
      ),
    ],
  });

/** A digest of nothing that exists. */
export const FOREIGN = "f".repeat(64) as Digest;
/** What no step has drawn. */
export const FOREIGN_ENTROPY = "f".repeat(64) as Entropy;
