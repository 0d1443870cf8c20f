/**
 * The integrity keys of a peer, oldest first. The first is in the vault and in the
 * peer row; each later one is in a row that the one before it sealed, and seals
 * what is stored after that row. So an older key vouches for its own time and for
 * nothing later (docs/decisions/0020-integrity-key-history.md).
 */
import type { PublicKey } from "../core/base/Digest.ts";
import { FIRST_INTEGRITY_VERSION } from "../core/protocol/Fitness.ts";
import { type Rows } from "../core/Tables.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import { type StoredRow, StoreFailure } from "./ByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import type { IntegrityKey, Sealing } from "./RowSeal.ts";

interface Version {
  readonly publicKey: PublicKey;
  /** The transaction that introduced it: it seals those after. */
  readonly after: number;
}

/** The stored part of the history. */
export interface HistoryRows {
  /** The first key, as the rows name it. Throws {@link IntegrityFailure} where they do not. */
  readonly first: () => PublicKey;
  /** The row of the history behind this key, as it is stored. */
  readonly after: (key: string) => { readonly key: string; readonly value: StoredRow } | undefined;
  /** Verifies one of these rows. Throws {@link IntegrityFailure}. */
  readonly open: (key: string, value: StoredRow) => { readonly value: Rows["integrity"]; readonly seal: Sealing };
}

export class KeyHistory {
  readonly #rows: HistoryRows;
  readonly #secrets = new Map<PublicKey, IntegrityKey>();
  #versions: Array<Version> = [];
  #isRead = false;
  /** The failure that ended the reading of the history early. */
  #fault: IntegrityFailure | undefined;

  constructor(rows: HistoryRows) {
    this.#rows = rows;
  }

  /** Begins the history with this key and removes all others from memory; undefined removes this one too. */
  use(first: IntegrityKey | undefined): void {
    this.#secrets.clear();
    if (first === undefined) return;
    this.#secrets.set(first.publicKey, first);
    this.#versions = [{ publicKey: first.publicKey, after: 0 }];
    this.#isRead = false;
    this.#fault = undefined;
  }

  add(integrity: IntegrityKey): void {
    this.#secrets.set(integrity.publicKey, integrity);
  }

  /** Whether private keys are in memory. */
  get isInUse(): boolean {
    return this.#secrets.size > 0;
  }

  /** Notes a key whose row this transaction has made durable. */
  append(publicKey: PublicKey, transaction: number): void {
    this.#versions.push({ publicKey, after: transaction });
  }

  /**
   * The key that seals the next write. Throws {@link StoreFailure} while no key is in memory, and
   * {@link IntegrityFailure} where the history does not hold.
   */
  newest(): { readonly version: number; readonly key: IntegrityKey } {
    if (!this.isInUse) throw new StoreFailure("a write was asked for while the integrity key is not in memory");
    this.#read();
    if (this.#fault !== undefined) throw this.#fault;
    const version = this.#versions.length;
    return { version, key: this.secret(version) };
  }

  /** The private key of a version. Throws {@link IntegrityFailure} while it is not in memory. */
  secret(version: number): IntegrityKey {
    const publicKey = this.#at(version)?.publicKey;
    const secret = publicKey && this.#secrets.get(publicKey);
    if (secret === undefined) throw this.#fault ?? notInHistory(`integrity/${numberKey(version)}`, version);
    return secret;
  }

  /** The public key that must have made a seal. Throws {@link IntegrityFailure} where no key sealed then. */
  publicKey(where: string, { keyVersion, transaction }: Sealing): PublicKey {
    const own = this.#at(keyVersion);
    if (own === undefined) throw this.#fault ?? notInHistory(where, keyVersion);
    const next = this.#versions[keyVersion - FIRST_INTEGRITY_VERSION + 1];
    if (transaction <= own.after || (next !== undefined && transaction > next.after))
      throw new IntegrityFailure(where, "it is sealed with an integrity key of another time");
    return own.publicKey;
  }

  #at(version: number): Version | undefined {
    if (this.#versions.length === 0) this.#versions.push({ publicKey: this.#rows.first(), after: 0 });
    this.#read();
    return this.#versions[version - FIRST_INTEGRITY_VERSION];
  }

  /** Reads the rows of the history as far as they follow one another; rows behind a gap count as missing. */
  #read(): void {
    if (this.#isRead) return;
    // Each of these rows is verified with the versions before it, through this very history.
    this.#isRead = true;
    try {
      for (;;) {
        const version = this.#versions.length;
        const row = this.#rows.after(numberKey(version));
        if (row === undefined || row.key !== numberKey(version + 1)) return;
        const { value, seal } = this.#rows.open(row.key, row.value);
        if (seal.keyVersion !== version)
          throw new IntegrityFailure(`integrity/${row.key}`, "the key before it did not seal it");
        this.#versions.push({ publicKey: value.publicKey, after: seal.transaction });
      }
    } catch (fault) {
      if (!(fault instanceof IntegrityFailure)) throw fault;
      // Rows that older keys sealed can still be read.
      this.#fault = fault;
    }
  }
}

const notInHistory = (where: string, version: number): IntegrityFailure =>
  new IntegrityFailure(where, `version ${version} of the integrity key is not in the history`);
