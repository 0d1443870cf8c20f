/** The content of a stopped peer's database: read as bytes, unsealed with the peer's own shares, and verified. */
import { Effect, Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { rowCodec, type TableName, tableNames } from "../../core/Tables.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { MemoryByteStore, type MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import type { ShareVault } from "../../core/threshold/Suite.ts";
import type { CryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { bringLaterKeys } from "../../server/peer/LaterKeys.ts";
import { shamirProvider } from "../../server/seal/ShamirSeal.ts";
import { openClient } from "../../server/sqlite/Database.ts";
import { isErased, LEAD_BYTES, places } from "../../server/sqlite/Layout.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";

export interface FinalStore {
  /** The stored rows, by table and key. */
  readonly tables: MemoryTables;
  /** The same, decoded, their seals verified. */
  readonly store: SealedStore;
  /** The number of the last transaction; 0 before the first. */
  readonly transactions: number;
  /** Where rows do not hold, if they do not. */
  readonly fault: string | undefined;
  /** Opens the boxes of its shares; undefined where its vault does not open. */
  readonly shareVault: ShareVault | undefined;
}

interface StoredColumns {
  readonly name: string;
  readonly key: string;
  readonly row: Uint8Array;
  readonly seal: Uint8Array;
}

const known = new Set<string>(tableNames);
const isTable = (name: string): name is TableName => known.has(name);

/** The stored rows of a data directory. */
export const readTables = (directory: string): Effect.Effect<MemoryTables, Error> =>
  Effect.gen(function* () {
    const tables: MemoryTables = new Map();
    const sql = yield* openClient(databaseFile(directory), "read");
    for (const place of places) {
      const rows = yield* sql<StoredColumns>`SELECT name, key, row, seal FROM ${sql(place)} ORDER BY name, key`;
      for (const { name, key, row, seal } of rows) {
        if (!isTable(name)) continue;
        const table = tables.get(name) ?? new Map();
        tables.set(name, table);
        table.set(key, {
          row: new Uint8Array(isErased(name) ? row.subarray(LEAD_BYTES) : row),
          seal: new Uint8Array(seal),
        });
      }
    }
    return tables;
  }).pipe(Effect.scoped);

/** Seals over rows already there, as the store reads them; scans of large tables are paged, so sorting is done once. */
const sealedStore = (tables: MemoryTables, crypto: Crypto): SealedStore =>
  new SealedStore(new MemoryByteStore({ tables }), crypto);

/** Verifies all rows with the integrity key in the peer's vault, opened with its shares, and those that came later. */
const verify = async (
  store: SealedStore,
  backend: CryptoBackend,
  shares: ReadonlyArray<string>,
): Promise<Pick<FinalStore, "fault" | "shareVault">> => {
  const failed = (fault: string) => ({ fault, shareVault: undefined });
  const vault = store.get("vault", SELF)?.blob;
  if (vault === undefined) return failed("the vault is missing");
  const provider = shamirProvider({ shares: shares.length, threshold: 2 }, (length) => new Uint8Array(length));
  const session = provider.unseal(vault);
  if (Either.isLeft(session)) return failed(session.left);
  for (const share of shares) {
    const step = await session.right.submit(share);
    if (Either.isLeft(step)) return failed(step.left.message);
    if (step.right._tag === "Collecting") continue;
    const keys = backend.keysOf(step.right.material);
    store.useKey(keys.integrity);
    return { fault: bringLaterKeys(store, keys) ?? store.verifyAll(), shareVault: keys.shareVault };
  }
  return failed("the shares do not open the vault");
};

/** The number in the row itself: whether the row holds is judged elsewhere. */
const transactionsIn = (tables: MemoryTables): number => {
  const head = tables.get("head")?.get(SELF);
  return head === undefined ? 0 : Either.getOrThrow(decode(rowCodec("head"), head.row)).transactions;
};

/**
 * Reads the database of a peer that has been stopped.
 *
 * @param directory the peer's data directory
 * @param shares its unseal shares
 */
export const readFinalStore = async (
  directory: string,
  backend: CryptoBackend,
  shares: ReadonlyArray<string>,
): Promise<FinalStore> => {
  const tables = await Effect.runPromise(readTables(directory));
  const store = sealedStore(tables, backend.crypto);
  const verified = await verify(store, backend, shares).catch((thrown: unknown) => ({
    fault: thrown instanceof Error ? thrown.message : "the rows cannot be read",
    shareVault: undefined,
  }));
  return { tables, store, transactions: transactionsIn(tables), ...verified };
};
