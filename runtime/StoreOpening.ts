/**
 * The first look at a store with its keys: the head by its seal, all ranges by the head, and by those what the start of
 * the process has read. Rows from before there were ranges are added up and cut into some.
 */
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Digest } from "../core/base/Digest.ts";
import type { Schema } from "../core/protocol/Composition.ts";
import { SELF } from "../core/protocol/Tables.ts";
import type { TableName } from "../core/Tables.ts";
import type { ByteStore } from "./ByteStore.ts";
import { KnownRows } from "./KnownRows.ts";
import { type Found, RangeProof, type Stored } from "./RangeProof.ts";
import { RangedRows, rangeOf } from "./RangedRows.ts";
import { RangeRows, type RangeSizes } from "./RangeRows.ts";
import { modulo, NEVER, OPEN, type Range, type StoredRange } from "./Ranges.ts";
import type { ReadAtStart } from "./ReadAtStart.ts";
import type { RowOpener } from "./RowOpener.ts";
import { HEAD_SEAL_VERSION, type IntegrityKey, maskOf, openDigestOf } from "./RowSeal.ts";
import { addedUp, type Verified } from "./RowSum.ts";
import { SealUses } from "./SealUses.ts";

/** What the history of keys is read from, in use or not. */
const ALWAYS: ReadonlyArray<TableName> = ["peer", "integrity"];

export interface StoredHead {
  readonly transactions: number;
  /** All but the head, the seals and the ranges. */
  readonly rows: number;
  readonly digest: Digest | undefined;
  /** Whether its own seal is a row, as it is unless an older program wrote it. */
  readonly hasSeal: boolean;
}

const EMPTY: StoredHead = { transactions: 0, rows: 0, digest: undefined, hasSeal: false };

export interface OpeningPorts {
  readonly bytes: ByteStore;
  readonly crypto: Crypto;
  readonly schema: Schema;
  readonly rows: RowOpener;
  readonly sizes: RangeSizes;
  /** The last durable transaction. */
  readonly newest: () => number;
}

export interface OpenedStore {
  readonly head: StoredHead;
  readonly ranged: RangedRows;
}

export class StoreOpening {
  readonly #ports: OpeningPorts;
  readonly #stored: Stored;

  constructor(ports: OpeningPorts) {
    this.#ports = ports;
    const { bytes, crypto, rows, schema } = ports;
    const tables = (schema.names as ReadonlyArray<TableName>)
      .filter((table) => table !== "head" && table !== "ranges")
      .toSorted();
    this.#stored = { bytes, crypto, rows, tables };
  }

  /**
   * Returns where something does not hold, as text. Throws IntegrityFailure too. It pauses now and then; nothing may be
   * committed before it has ended.
   *
   * @param last the head that this process wrote or verified last, if any
   * @param read what it has read at its start, if that is to be proven
   */
  *open(last: StoredHead | undefined, read: ReadAtStart | undefined): Generator<Verified, OpenedStore | string> {
    const { rows, crypto } = this.#ports;
    const { key: integrity } = rows.history.newest();
    const { head, chain, keyVersion } = this.#head();
    if (last !== undefined && (head.transactions !== last.transactions || head.digest !== last.digest))
      return "head/self: it is not the one that was written last";
    const kept = this.#rangeRows();
    const ranges = yield* this.#read(kept, head, chain);
    if (chain !== undefined) return yield* this.#ranges(head, integrity, kept, ranges, read);
    const { transactions, digest } = head;
    const mask = digest === undefined ? 0n : maskOf(crypto, rows.history.secret(keyVersion), transactions);
    const sum = digest === undefined ? 0n : modulo(BigInt(`0x${digest}`) - mask);
    const { piece } = this.#ports.sizes;
    const all = yield* addedUp(this.#stored, integrity, { ...head, sum }, read?.comparison(), piece);
    if (typeof all === "string") return all;
    const cut = all.pieces.map((piece) => rangeOf({ crypto, integrity }, piece));
    return { head, ranged: this.#ranged(integrity, kept, all, cut, transactions) };
  }

  /** Whether the rows of ranges are those of the head, for which no private key is needed. Throws IntegrityFailure. */
  *rangesHold(): Generator<Verified, void> {
    const { head, chain } = this.#head();
    yield* this.#read(this.#rangeRows(), head, chain);
  }

  *#read(
    kept: RangeRows,
    head: StoredHead,
    chain: Digest | undefined,
  ): Generator<Verified, ReadonlyArray<StoredRange>> {
    const reading = kept.read(chain);
    let page = reading.next();
    for (; page.done !== true; page = reading.next()) yield { rows: 0, of: head.rows };
    return page.value;
  }

  *#ranges(
    head: StoredHead,
    integrity: IntegrityKey,
    kept: RangeRows,
    stored: ReadonlyArray<StoredRange>,
    read: ReadAtStart | undefined,
  ): Generator<Verified, OpenedStore | string> {
    const { crypto } = this.#ports;
    const { transactions, rows } = head;
    const ranges = stored.map((range): Range => {
      const changedIn = range.digest === OPEN ? transactions : NEVER;
      return { ...range, sum: undefined, last: undefined, changedIn };
    });
    const found = { known: new KnownRows(crypto, integrity.setKey), uses: new SealUses() };
    found.uses.start(transactions);
    const comparison = read?.comparison();
    const proof = new RangeProof(this.#stored, integrity, this.#ports.sizes.slice);
    const open = ranges.flatMap((range, at) =>
      range.digest === OPEN ? [[range, ranges[at + 1]?.after] as const] : [],
    );
    const holds = (count: number, sum: bigint): boolean =>
      openDigestOf(crypto, integrity, { transactions, rows, open: count, sum }) === head.digest;
    const proving = proof.proveOpen(open, transactions, rows + transactions, holds, { found, comparison });
    let proven = proving.next();
    const once = open.reduce((sum, [range]) => sum + range.rows, 0);
    for (; proven.done !== true; proven = proving.next())
      yield { rows: proven.value, of: Math.max(once, proven.value) };
    const byBeginning = new Map(proven.value.map((range) => [range.after, range]));
    const known = ranges.map((range) => byBeginning.get(range.after) ?? range);
    const ranged = this.#ranged(integrity, kept, found, known, transactions);
    const fault = yield* ranged.proveStart(read, ALWAYS, comparison);
    return fault ?? { head, ranged };
  }

  #rangeRows(): RangeRows {
    const { bytes, crypto, schema, sizes } = this.#ports;
    return new RangeRows(bytes, crypto, schema, sizes);
  }

  #ranged(
    integrity: IntegrityKey,
    stored: RangeRows,
    found: Found,
    ranges: ReadonlyArray<Range>,
    opened: number,
  ): RangedRows {
    const { crypto, newest, sizes } = this.#ports;
    const proof = new RangeProof(this.#stored, integrity, sizes.slice);
    const ports = { crypto, integrity, proof, stored, sizes, found };
    return new RangedRows({ ...ports, newest: () => Math.max(opened, newest()) }, ranges);
  }

  #head(): { readonly head: StoredHead; readonly chain: Digest | undefined; readonly keyVersion: number } {
    const { bytes, rows } = this.#ports;
    const stored = bytes.get("head", SELF);
    if (stored === undefined) return { head: EMPTY, chain: undefined, keyVersion: 0 };
    // Against what lies there now: it is in no range.
    rows.forget();
    const { value, seal, sealedIn } = rows.open("head", SELF, stored);
    return {
      head: {
        transactions: value.transactions,
        rows: value.rows,
        digest: value.digest,
        hasSeal: sealedIn !== undefined,
      },
      chain: rows.sealOf("head/self", stored.seal, HEAD_SEAL_VERSION).chain,
      keyVersion: seal.keyVersion,
    };
  }
}
