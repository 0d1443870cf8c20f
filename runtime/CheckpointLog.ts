/** The checkpoint of a store while it is written: brought up to date with every transaction, and now and then made anew. */
import type { Digest } from "../core/base/Digest.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { TableName } from "../core/Tables.ts";
import {
  baseFrame,
  changeFrame,
  type CheckpointFile,
  type Frame,
  type Moment,
  readCheckpoint,
  type RowChanges,
} from "./Checkpoint.ts";
import { KnownRows } from "./KnownRows.ts";
import type { IntegrityKey } from "./RowSeal.ts";
import { SealUses } from "./SealUses.ts";

/** What a store knows of its rows. */
export interface Knowledge {
  readonly known: KnownRows;
  readonly uses: SealUses;
}

const sizeOf = ({ parts }: Frame): number => parts.reduce((sum, part) => sum + part.length, 0);

export class CheckpointLog {
  readonly #file: CheckpointFile | undefined;
  readonly #crypto: Crypto;
  readonly #mostChanges: number;
  /** What the next frame follows; undefined while none may. */
  #end: Digest | undefined;
  #base = 0;
  #changes = 0;

  /** @param mostChanges bytes of changes, and where the base is larger half of its, after which it is made anew */
  constructor(file: CheckpointFile | undefined, crypto: Crypto, mostChanges: number) {
    this.#file = file;
    this.#crypto = crypto;
    this.#mostChanges = mostChanges;
  }

  /** Nothing more is added: what is there ends before what is written now. */
  stop(): void {
    this.#end = undefined;
  }

  /** What the file says of the rows at a moment; undefined where it says nothing that can be believed. */
  read(key: IntegrityKey, moment: Moment): Knowledge | undefined {
    const file = this.#file?.read();
    if (file === undefined) return undefined;
    const found = readCheckpoint(this.#crypto, key, file, moment);
    if (found === undefined) return undefined;
    const { base, rows, changes, end, isWhole } = found;
    const counts = new Map(base.counts.map((each) => [each.table as TableName, each.rows]));
    const known = new KnownRows(this.#crypto, key.setKey, { bytes: rows, counts });
    const uses = new SealUses(base.uses);
    let transaction = moment.transaction - changes.length;
    for (const change of changes) apply({ known, uses }, (transaction += 1), change);
    this.#end = end;
    this.#base = rows.length;
    this.#changes = file.length - rows.length;
    if (!isWhole) this.start(key, moment, { known, uses });
    return { known, uses };
  }

  /** Writes all of it anew. */
  start(key: IntegrityKey, moment: Moment, { known, uses }: Knowledge): void {
    if (this.#file === undefined) return;
    const counts = [...known.counts].map(([table, rows]) => ({ table, rows }));
    const rows = known.bytes();
    const frame = baseFrame(this.#crypto, key, moment, { counts, uses: uses.bytes() }, rows);
    this.#file.replace(frame.parts);
    this.#end = frame.end;
    this.#base = sizeOf(frame);
    this.#changes = 0;
  }

  /** Whether changes are kept at all. */
  get isKept(): boolean {
    return this.#end !== undefined;
  }

  /** Whether reading all these changes would take long, beside the rest. */
  get isLong(): boolean {
    return this.isKept && this.#changes > Math.max(this.#mostChanges, this.#base / 2);
  }

  /** Adds what a transaction changes: before it is on its way, so that no process can end between the two. */
  add(key: IntegrityKey, moment: Moment, changes: RowChanges): void {
    if (this.#file === undefined || this.#end === undefined) return;
    const frame = changeFrame(this.#crypto, key, this.#end, moment, changes);
    this.#file.append(frame.parts);
    this.#end = frame.end;
    this.#changes += sizeOf(frame);
  }
}

const apply = (
  { known, uses }: Knowledge,
  transaction: number,
  { rows, released, written, unused }: RowChanges,
): void => {
  for (const { table, place, print } of rows) known.put(table as TableName, place, print);
  useSeals(uses, transaction, { released, written, unused });
};

/** Counts the seals that a transaction's rows, and the ones it took away, need. */
export const useSeals = (
  uses: SealUses,
  transaction: number,
  { released, written, unused }: Omit<RowChanges, "rows">,
): void => {
  for (const number of released) uses.add(number, -1);
  for (const number of unused) uses.end(number);
  uses.start(transaction);
  uses.add(transaction, written);
};
