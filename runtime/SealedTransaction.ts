/** A transaction on its way down: its rows encoded, the head brought up to date, and the seal over both. */
import { encode } from "../core/codec/CborWriter.ts";
import type { Digest } from "../core/base/Digest.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { numberKey, SELF } from "../core/protocol/Tables.ts";
import type { Rows, TableName, Write } from "../core/Tables.ts";
import type { Change } from "./ByteStore.ts";
import type { RowChanges } from "./Checkpoint.ts";
import type { RowChange } from "./RowProofs.ts";
import { elementOf, type IntegrityKey, leafOf, maskOf, type PlainRow, sealCodec, sealRows } from "./RowSeal.ts";
import { asDigest, type Head, modulo, type Share } from "./RowSums.ts";
import type { SealUses } from "./SealUses.ts";

export interface SealingPorts {
  readonly crypto: Crypto;
  readonly schema: Schema;
  readonly integrity: IntegrityKey;
  /** Of the integrity key. */
  readonly version: number;
  /** The share of a row that is there. Throws {@link IntegrityFailure} where it is not, or does not hold. */
  readonly shareOnDisk: (table: TableName, key: string) => Share;
  /** Undefined while it is not known which seals are needed: then all stay. */
  readonly uses: SealUses | undefined;
}

export interface SealedTransaction {
  /** In order, the seal first. */
  readonly changes: ReadonlyArray<Change>;
  /** What they do to rows and seals, the head left out. */
  readonly rows: ReadonlyArray<RowChange>;
  readonly counts: Omit<RowChanges, "rows">;
  readonly head: Head;
  readonly sealed: Rows["seals"];
}

/** Throws what `shareOnDisk` throws. */
export const sealTransaction = (
  { crypto, schema, integrity, version, shareOnDisk, uses }: SealingPorts,
  before: Head,
  writes: ReadonlyArray<Write>,
): SealedTransaction => {
  const transaction = before.transactions + 1;
  let { sum, rows } = before;
  const plain: Array<PlainRow> = [];
  const leaves: Array<Digest> = [];
  const removals: Array<Change> = [];
  const rowChanges: Array<RowChange> = [];
  const released: Array<number> = [];
  for (const write of writes) {
    const { table, key } = write;
    const old = write.op === "insert" ? undefined : shareOnDisk(table, key);
    sum -= old?.element ?? 0n;
    if (old?.sealedIn !== undefined) released.push(old.sealedIn);
    if (write.op === "insert") rows += 1;
    if (write.op === "remove") {
      rows -= 1;
      removals.push({ op: "remove", table, key });
      rowChanges.push({ table, key, before: old?.element, after: undefined });
      continue;
    }
    const row = { table, key, row: encode(schema.codecOf(table), write.row) };
    const leaf = leafOf(crypto, transaction, row);
    const element = elementOf(crypto, integrity, leaf);
    leaves.push(leaf);
    sum += element;
    rowChanges.push({ table, key, before: old?.element, after: element });
    plain.push(row);
  }
  // The seal of the head that was comes into the sum.
  if (before.hasSeal) sum += shareOnDisk("seals", numberKey(before.transactions)).element;
  const unused = uses === undefined ? [] : unusedAfter(uses, released, before);
  for (const number of unused) {
    const key = numberKey(number);
    const { element } = shareOnDisk("seals", key);
    sum -= element;
    removals.push({ op: "remove", table: "seals", key });
    rowChanges.push({ table: "seals", key, before: element, after: undefined });
  }
  sum = modulo(sum);
  const masked = modulo(sum + maskOf(crypto, integrity, transaction));
  const head: PlainRow = {
    table: "head",
    key: SELF,
    row: encode(schema.codecOf("head"), { transactions: transaction, rows, digest: asDigest(masked) }),
  };
  leaves.push(leafOf(crypto, transaction, head));
  const sealed = sealRows(crypto, integrity, version, transaction, leaves);
  const seal: PlainRow = { table: "seals", key: numberKey(transaction), row: encode(schema.codecOf("seals"), sealed) };
  const after = elementOf(crypto, integrity, leafOf(crypto, transaction, seal));
  rowChanges.push({ table: "seals", key: seal.key, before: undefined, after });
  const ops: ReadonlyArray<"insert" | "replace"> = [
    "insert",
    ...writes.flatMap((each) => (each.op === "remove" ? [] : [each.op])),
    before.transactions === 0 ? "insert" : "replace",
  ];
  const beside = encode(sealCodec, { transaction, own: undefined });
  const puts = [seal, ...plain, head].map(
    ({ table, key, row }, index): Change => ({ op: ops[index] ?? "insert", table, key, value: { row, seal: beside } }),
  );
  return {
    changes: [...puts, ...removals],
    rows: rowChanges,
    counts: { released, written: plain.length, unused },
    head: { transactions: transaction, rows, sum, hasSeal: true },
    sealed,
  };
};

/** The transactions of which no row is left once these have lost one each. */
const unusedAfter = (uses: SealUses, released: ReadonlyArray<number>, before: Head): ReadonlyArray<number> => {
  const fewer = new Map<number, number>();
  for (const number of released) fewer.set(number, (fewer.get(number) ?? 0) + 1);
  // What it wrote beside the head may be gone already, or it has only removed.
  if (before.hasSeal && !fewer.has(before.transactions)) fewer.set(before.transactions, 0);
  return [...fewer].flatMap(([number, count]) => (uses.of(number) === count ? [number] : []));
};
