/**
 * What can be told of a backup without unsealing anything: that its peer signed it, that its rows are what that peer
 * wrote, each at its place, and that its chains of batches and audit are whole.
 */
import { dirname, join } from "node:path";
import { Effect, Either } from "effect";
import type { PublicKey } from "../../core/base/Digest.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { auditHash } from "../../core/protocol/Audit.ts";
import { BATCH_TAG, batchHash, batchHeaderCodec } from "../../core/protocol/Statement.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { TOPOLOGY_TAG, topologyCodec } from "../../core/protocol/Topology.ts";
import { type Rows, type TableName, tableNames } from "../../core/Tables.ts";
import { StoreFailure } from "../../runtime/ByteStore.ts";
import { IntegrityFailure, UnreadableRow } from "../../runtime/PeerStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { sqliteCode, type StoreOpenError, storeOpenError, type StoreOpenReason } from "../sqlite/StoreOpenError.ts";
import { type BackupFault, broken, faultOf, type OpenArchive, unusable } from "./Archive.ts";
import { openCopy } from "./CopyStore.ts";
import { membersIn, storedFacts } from "./Facts.ts";
import { type BackupFacts, damage, type Finding, isSigned, type Manifest } from "./Manifest.ts";
import { freeBytes, spaceFault } from "./Space.ts";
import { type Tell, unpack } from "./Unpack.ts";

/** Left is what does not hold, or what kept it from being found out. */
type Verdict = Either.Either<void, Finding>;

const holds: Verdict = Either.void;

/** Faults of a database itself; all others are of this machine or program, and the backup may be the last good one. */
const damaging: ReadonlySet<StoreOpenReason> = new Set(["not-a-database", "foreign", "schema", "corrupt"]);

const findingOf = (database: string, error: StoreOpenError): Finding =>
  damaging.has(error.reason)
    ? { kind: "broken", what: error.message.replace(error.file, "its database") }
    : {
        kind: "unusable",
        what: `nothing was found out about it: ${error.message.replace(error.file, `its database, unpacked in ${dirname(database)},`)}`,
      };

/** Whether every row follows the one before it. */
interface Chain<T extends TableName> {
  readonly next: (row: Rows[T]) => Verdict;
  readonly end: () => Verdict;
}

const auditChain = (crypto: Crypto, { auditSeq }: BackupFacts): Chain<"audit"> => {
  let [seq, before] = [0, ""];
  return {
    next: (row) => {
      if (row.seq !== seq + 1) return damage(`the audit breaks off after row ${seq}`);
      if (seq > 0 && row.prevHash !== before) return damage(`row ${row.seq} of the audit follows another row`);
      seq = row.seq;
      before = auditHash(crypto, row);
      return holds;
    },
    end: () => (seq === auditSeq ? holds : damage(`the audit ends with row ${seq} instead of ${auditSeq}`)),
  };
};

const batchChain = (crypto: Crypto, key: PublicKey, { batchNo, peerId }: BackupFacts): Chain<"batches"> => {
  let last: Rows["batches"]["header"] | undefined;
  return {
    next: ({ header, signature }) => {
      const { batchNo: no, incarnation, prevBatchHash } = header;
      if (no !== (last?.batchNo ?? 0) + 1) return damage(`the batches break off after ${last?.batchNo ?? 0}`);
      if (header.peerId !== peerId || !crypto.verify(key, BATCH_TAG, batchHeaderCodec, header, signature))
        return damage(`batch ${no} was not signed by this peer`);
      // The first batch of another incarnation names the restore instead.
      if (last?.incarnation === incarnation && prevBatchHash !== batchHash(crypto, last))
        return damage(`batch ${no} follows another batch`);
      last = header;
      return holds;
    },
    end: () =>
      (last?.batchNo ?? 0) === batchNo
        ? holds
        : damage(`the batches end with ${last?.batchNo ?? 0} instead of ${batchNo}`),
  };
};

/** All members signed the topology, this peer with the key that signed the manifest. */
const topologyVerdict = (crypto: Crypto, view: SealedStore, { peerId, identityKey }: BackupFacts): Verdict => {
  const pinned = view.get("topology", SELF);
  if (pinned === undefined) return holds;
  const { topology, signatures } = pinned;
  const isWhole = topology.members.every((member, index) => {
    const signature = signatures[index];
    return (
      signature !== undefined && crypto.verify(member.identityKey, TOPOLOGY_TAG, topologyCodec, topology, signature)
    );
  });
  if (!isWhole) return damage("not every member signed the topology in it");
  return topology.members.some((member) => member.peerId === peerId && member.identityKey === identityKey)
    ? holds
    : damage("its peer is no member of the topology in it");
};

const isAsSaid = (said: BackupFacts, found: object | undefined): boolean =>
  found !== undefined &&
  Object.entries(found).every(([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(said, name)));

/** All whose rows have seals; those of ranges are signed with the head. */
const sealed = tableNames.filter((table) => table !== "ranges");

const rowsVerdict = async (
  crypto: Crypto,
  store: SealedStore,
  facts: BackupFacts,
  tell: (rows: number) => void,
): Promise<Verdict> => {
  const audit = auditChain(crypto, facts);
  const batches = batchChain(crypto, facts.identityKey, facts);
  let rows = 0;
  store.rangesHold();
  for (const table of sealed) {
    for (const slice of store.slices(table)) {
      // The head counts neither itself nor seals.
      if (table !== "head" && table !== "seals") rows += slice.length;
      for (const { row } of slice) {
        const verdict =
          table === "audit"
            ? audit.next(row as Rows["audit"])
            : table === "batches"
              ? batches.next(row as Rows["batches"])
              : holds;
        if (Either.isLeft(verdict)) return verdict;
      }
      tell(rows);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
  const ends = [audit.end(), batches.end()].find(Either.isLeft);
  if (ends !== undefined) return ends;
  return rows === facts.rows ? holds : damage(`it has ${rows} rows instead of ${facts.rows}`);
};

const storedVerdict = async (
  crypto: Crypto,
  store: SealedStore,
  database: string,
  facts: BackupFacts,
  tell: (rows: number) => void,
): Promise<Either.Either<number, Finding>> => {
  try {
    if (!isAsSaid(facts, storedFacts(store, crypto)))
      return damage("its database tells of another peer or moment than its manifest");
    const topology = topologyVerdict(crypto, store, facts);
    const rows = Either.isLeft(topology) ? topology : await rowsVerdict(crypto, store, facts, tell);
    return Either.map(rows, () => membersIn(store));
  } catch (fault) {
    if (fault instanceof UnreadableRow)
      return Either.left({
        kind: "unusable",
        what: `it has a row of a newer program (${fault.message}); use that one`,
      });
    if (fault instanceof IntegrityFailure) return damage(fault.message);
    if (!(fault instanceof StoreFailure)) throw fault;
    if (sqliteCode(fault.cause) === undefined) return damage("a row has another shape than a peer gives it");
    return Either.left(findingOf(database, storeOpenError(database, fault.cause)));
  }
};

/** Whether the manifest was signed by the key it names; the database tells whose key that is. */
export const judgeManifest = (file: string, manifest: Manifest, crypto: Crypto): Effect.Effect<void, BackupFault> =>
  isSigned(crypto, manifest)
    ? Effect.void
    : Effect.fail(broken(file, "its manifest was not signed by the peer it names; it was changed"));

/**
 * Judges the database that was unpacked from a backup.
 *
 * @param file how the backup is called in a fault
 * @param tell told how many rows are verified
 * @returns how many members its peer's cluster has, or is to have
 */
export const judgeDatabase = (
  file: string,
  database: string,
  { facts }: Manifest,
  crypto: Crypto,
  tell: (rows: number) => void,
): Effect.Effect<number, BackupFault> =>
  Effect.gen(function* () {
    const { bytes, isMarked, faults } = yield* openCopy(database);
    const [fault] = yield* faults;
    if (fault !== undefined) return yield* broken(file, `SQLite finds its database damaged: ${fault}`);
    if (!isMarked) return yield* broken(file, "its database lacks the mark of a copy");
    const store = new SealedStore(bytes, crypto);
    const verdict = yield* Effect.promise(() => storedVerdict(crypto, store, database, facts, tell));
    return yield* Either.mapLeft(verdict, (finding) => faultOf(file, finding));
  }).pipe(
    Effect.scoped,
    Effect.catchTag("StoreOpenError", (error) => Effect.fail(faultOf(file, findingOf(database, error)))),
  );

/**
 * Judges all of a backup, whose database is unpacked meanwhile.
 *
 * @param scratch an empty folder
 * @param tell told how many bytes are unpacked
 * @param free how much the disk of a folder has left
 */
export const judgeArchive = (
  archive: OpenArchive,
  scratch: string,
  crypto: Crypto,
  tell: Tell,
  free = freeBytes,
): Effect.Effect<void, BackupFault> =>
  Effect.gen(function* () {
    const { file, manifest } = archive;
    yield* judgeManifest(file, manifest, crypto);
    const full = yield* spaceFault(scratch, manifest.facts.bytes, free);
    if (full !== undefined) {
      const place = dirname(scratch);
      return yield* unusable(file, `it cannot be unpacked in ${place}: ${full}, or name another disk with --scratch`);
    }
    const database = join(scratch, "custody.db");
    yield* unpack(archive, database, tell);
    yield* judgeDatabase(file, database, manifest, crypto, () => undefined);
  });
