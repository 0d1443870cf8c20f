/** What each row adds to the sum over all rows, and which seal it needs. */
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { TableName } from "../core/Tables.ts";
import type { StoredRow } from "./ByteStore.ts";
import type { RowOpener } from "./RowOpener.ts";
import { elementOf, type IntegrityKey, leafOf } from "./RowSeal.ts";

/** A row's share of the sum, and the transaction whose seal it needs. */
export interface Share {
  readonly element: bigint;
  /** Undefined where it carries its own proof, and where it is a seal itself. */
  readonly sealedIn: number | undefined;
}

export class RowShares {
  readonly #crypto: Crypto;
  readonly #rows: RowOpener;
  readonly #integrity: IntegrityKey;

  /** @param integrity the key in use, while it is */
  constructor(crypto: Crypto, rows: RowOpener, integrity: IntegrityKey) {
    this.#crypto = crypto;
    this.#rows = rows;
    this.#integrity = integrity;
  }

  /**
   * A row's share as it lies there: all that a sum has to be told of it, since nobody without the key finds another row
   * with the same. A row that carries its own proof is opened: only its transaction is part of the sum.
   */
  of(table: TableName, key: string, stored: StoredRow): Share {
    const { transaction, own } = this.#rows.sealOf(`${table}/${key}`, stored.seal);
    const leaf =
      own === undefined
        ? leafOf(this.#crypto, transaction, { table, key, row: stored.row })
        : this.#rows.open(table, key, stored).leaf;
    return {
      element: elementOf(this.#crypto, this.#integrity, leaf),
      sealedIn: own === undefined ? transaction : undefined,
    };
  }
}
