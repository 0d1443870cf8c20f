/** Sealed stores over rows that a test can reach, and keys to seal them with. */
import { bytesToHex } from "@noble/hashes/utils.js";
import type { PublicKey } from "../../core/base/Digest.ts";
import type { Rows, TableName, Write } from "../../core/Tables.ts";
import type { ByteStore, StoredRow } from "../../runtime/ByteStore.ts";
import { signerOf } from "../../runtime/CryptoPrimitives.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { nobleSigning } from "../../runtime/NobleCrypto.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { crypto } from "../cluster/Cluster.ts";

/** One for all integrity keys of a peer, and derived from none of them. */
const setKey = new Uint8Array(32).fill(8);

/** The integrity key whose seed is this byte, 32 times. */
export const integrityKeyOf = (fill: number): IntegrityKey => {
  const seed = new Uint8Array(32).fill(fill);
  const publicKey = bytesToHex(nobleSigning.publicKeyOf(seed)) as PublicKey;
  return { ...signerOf(publicKey, (message) => nobleSigning.sign(seed, message)), setKey };
};

/** The row of a peer that names the first integrity key of its history. */
export const peerRow = (integrityKey: PublicKey): Write => {
  const row: Rows["peer"] = {
    peerId: 1,
    threshold: 1,
    total: 1,
    identityKey: integrityKeyOf(9).publicKey,
    integrityKey,
    nonce: crypto.sha256(new Uint8Array(0)),
    unsealedOnce: false,
  };
  return { op: "insert", table: "peer", key: "self", row };
};

/** A store as a fresh process has it, with these integrity keys in memory, the first one first. */
export const openSealed = (bytes: ByteStore, ...keys: ReadonlyArray<IntegrityKey>): SealedStore => {
  const opened = new SealedStore(bytes, crypto);
  const [own, ...later] = keys;
  opened.useKey(own);
  for (const each of later) opened.addKey(each);
  return opened;
};

/** Commits to a store whose flushes end at once. */
export const commitTo = (store: SealedStore, ...writes: ReadonlyArray<Write>): void =>
  store.commit(writes, (failure) => {
    if (failure !== undefined) throw failure;
  });

/** The stored bytes of a row. Throws where there is none. */
export const storedRow = (tables: MemoryTables, table: TableName, key: string): StoredRow => {
  const row = tables.get(table)?.get(key);
  if (row === undefined) throw new Error(`the test expects ${table}/${key} to be there`);
  return row;
};
