/** A row with the proof that rows carried in version 1, made by somebody without keys out of what lies on the disk. */
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { digest, list, record, signature, uint } from "../../core/codec/Codec.ts";
import { writtenIn } from "../../core/codec/Versioned.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import { rowCodec, type TableName } from "../../core/Tables.ts";
import type { StoredRow } from "../../runtime/ByteStore.ts";
import { leafOf, SEAL_VERSION, sealCodec } from "../../runtime/RowSeal.ts";

const LEVELS = 16;
const firstCodec = writtenIn(
  1,
  record({
    keyVersion: uint,
    transaction: uint,
    index: uint,
    size: uint,
    proof: list(digest, LEVELS),
    root: digest,
    signature,
  }),
);

/**
 * The tree of a transaction that wrote this row alone, with the signature of the one that wrote it, which signs other
 * things. Undefined where that one cannot be told.
 *
 * @param sealOf the row of a transaction's seal, by its key
 */
export const forgedProof = (
  crypto: Crypto,
  sealOf: (key: string) => StoredRow | undefined,
  table: TableName,
  key: string,
  { row, seal }: StoredRow,
): StoredRow | undefined => {
  const beside = decode(sealCodec, seal, SEAL_VERSION);
  if (Either.isLeft(beside)) return undefined;
  const { transaction } = beside.right;
  const stored = sealOf(numberKey(transaction));
  const sealed = stored && decode(rowCodec("seals"), stored.row);
  if (sealed === undefined || Either.isLeft(sealed)) return undefined;
  const { keyVersion, signature: copied } = sealed.right;
  const root = leafOf(crypto, transaction, { table, key, row });
  const proof = { keyVersion, transaction, index: 0, size: 1, proof: [], root, signature: copied };
  return { row: new Uint8Array(row), seal: encode(firstCodec, proof) };
};
