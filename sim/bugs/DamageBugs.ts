/** Bugs of peers whose rows do not hold, and of sealed ones, which cannot know whether theirs do. */
import { Either } from "effect";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Ready } from "../../core/protocol/Message.ts";
import { rowCodec, type Rows, type TableName } from "../../core/Tables.ts";
import { text } from "../../core/codec/Codec.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { ByteStore, Change, StoredRow } from "../../runtime/ByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { decode } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import { SEAL_VERSION, sealCodec } from "../../runtime/RowSeal.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { type MakeStore, SealedDisk } from "../disks/SealedDisk.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { Tampering } from "../world/Tampering.ts";

const FIRST_SEAL_TAG = "CUSTODY_ROW_SEAL_V1";
const RANGE_TAG = "CUSTODY_RANGE_V1";
const OPEN_TAG = "CUSTODY_OPEN_RANGES_V1";
const CHAIN_TAG = "CUSTODY_RANGES_CHAIN_V1";

const isSealed = ({ fitness: { unsealed } }: PeerState): boolean => !unsealed;
const isDamaged = ({ fitness: { integrityFault } }: PeerState): boolean => integrityFault !== undefined;

const announcement = ({ rejoining: { restored } }: PeerState): Partial<Ready> => ({ restored });
const highestSlot = ({ undecided: { highProof } }: PeerState): Partial<Ready> => ({ highSeqProof: highProof });

/** Such a peer answers a probe with something from its rows that it has signed, and perhaps never flushed. */
const shows =
  (isUnsure: (state: PeerState) => boolean, signed: (state: PeerState) => Partial<Ready>) => (): Tampering => ({
    said: ({ state }, message) =>
      message._tag === "Ready" && state !== undefined && isUnsure(state) ? { ...message, ...signed(state) } : message,
  });

/** What is otherwise at a peer whose rows are sealed. */
interface Otherwise {
  readonly crypto?: Crypto;
  readonly through?: (bytes: ByteStore) => ByteStore;
  readonly made?: MakeStore;
}

/** Bulk runs seal no rows, and are left as they are. */
const onSealed =
  (otherwise: (crypto: Crypto) => Otherwise) =>
  (honest: Cryptography): Cryptography => ({
    ...honest,
    newDisk: (keys, schedule, durable, schema) => {
      const disk = honest.newDisk(keys, schedule, durable, schema);
      if (!(disk instanceof SealedDisk)) return disk;
      const { crypto = honest.crypto, through, made } = otherwise(honest.crypto);
      return new SealedDisk(crypto, () => keys()?.integrity, schedule, durable, through, schema, made);
    },
  });

/** A changed row takes the seal of its transaction with it, which others still need. */
const droppingSeals = (bytes: ByteStore): ByteStore => ({
  get: bytes.get,
  scan: bytes.scan,
  keys: bytes.keys,
  commit: (changes, done) => {
    const touched = new Set(changes.flatMap(({ table, key }) => (table === "seals" ? [key] : [])));
    const dropped = changes.flatMap(({ op, table, key }): ReadonlyArray<Change> => {
      const seal = op === "insert" || table === "head" ? undefined : bytes.get(table, key)?.seal;
      if (seal === undefined) return [];
      const name = numberKey(Either.getOrThrow(decode(sealCodec, seal, SEAL_VERSION)).transaction);
      if (touched.has(name) || bytes.get("seals", name) === undefined) return [];
      touched.add(name);
      return [{ op: "remove", table: "seals", key: name }];
    });
    bytes.commit([...changes, ...dropped], done);
  },
});

/** The seal of a transaction stays when the last of its rows has gone. */
const keepingSeals = (bytes: ByteStore): ByteStore => ({
  get: bytes.get,
  scan: bytes.scan,
  keys: bytes.keys,
  commit: (changes, done) =>
    bytes.commit(
      changes.filter(({ op, table }) => op !== "remove" || table !== "seals"),
      done,
    ),
});

const withKeptSeals = onSealed(() => ({ through: keepingSeals }));

const withDroppedSeals = onSealed(() => ({ through: droppingSeals }));

/** A store that takes whatever it does not find for what never was. */
class BelievesAbsence extends SealedStore {
  readonly #bytes: ByteStore;

  constructor(...made: ConstructorParameters<typeof SealedStore>) {
    super(...made);
    [this.#bytes] = made;
  }

  override get<T extends TableName>(table: T, key: string): Rows[T] | undefined {
    return this.#bytes.get(table, key) === undefined ? undefined : super.get(table, key);
  }
}

const withAbsence = onSealed(() => ({ made: (...made) => new BelievesAbsence(...made) }));

/** A store that lists keys as they lie there. */
class BelievesPages extends SealedStore {
  readonly #bytes: ByteStore;

  constructor(...made: ConstructorParameters<typeof SealedStore>) {
    super(...made);
    [this.#bytes] = made;
  }

  override keys(table: TableName, from: string, limit: number): ReadonlyArray<string> {
    return this.#bytes.keys(table, from, limit);
  }
}

const withPages = onSealed(() => ({ made: (...made) => new BelievesPages(...made) }));

/** A store that gives the start of a process rows as they lie there; their seals are looked at when it is unsealed. */
const startingUnsealed: MakeStore = (...made) => {
  const [bytes] = made;
  const store = new SealedStore(...made);
  const { atStart } = store;
  const read = <T extends TableName>(table: T, { row }: StoredRow): Rows[T] =>
    Either.getOrThrow(decode(rowCodec(table), row));
  return Object.assign(store, {
    atStart: {
      get: <T extends TableName>(table: T, key: string): Rows[T] | undefined => {
        try {
          return atStart.get(table, key);
        } catch {
          const stored = bytes.get(table, key);
          return stored && read(table, stored);
        }
      },
      scan: <T extends TableName>(table: T, after: string, limit: number) => {
        try {
          return atStart.scan(table, after, limit);
        } catch {
          return bytes.scan(table, after, limit).map(({ key, value }) => ({ key, row: read(table, value) }));
        }
      },
    },
  });
};

const withUnsealedStart = onSealed(() => ({ made: startingUnsealed }));

/** A peer's rows with other cryptography than the peer's own. */
const withCrypto = (change: (crypto: Crypto) => Partial<Crypto>) =>
  onSealed((crypto) => ({ crypto: { ...crypto, ...change(crypto) } }));

/** MACs under one tag say the same of everything. */
const withoutMac = (tag: string) =>
  withCrypto(({ mac }) => ({
    mac: (secret, named, codec, value) =>
      named === tag ? mac(secret, named, text(0), "") : mac(secret, named, codec, value),
  }));

/** Whatever lies there of the proofs that rows carried in version 1 is believed. */
const withOldProofs = withCrypto(({ verify }) => ({
  verify: (key, tag, ...signed) => tag === FIRST_SEAL_TAG || verify(key, tag, ...signed),
}));

/** The head says nothing of which ranges there are, and what stands for each. */
const withoutChain = withCrypto(({ digest }) => ({
  digest: (tag, codec, value) => (tag === CHAIN_TAG ? digest(tag, text(0), "") : digest(tag, codec, value)),
}));

/** Of the ranges that one transaction changes or cuts, the first is stored. */
const storingOne = (bytes: ByteStore): ByteStore => ({
  get: bytes.get,
  scan: bytes.scan,
  keys: bytes.keys,
  commit: (changes, done) => {
    const codec = rowCodec("ranges");
    const first = (row: Uint8Array): Uint8Array => {
      const { ranges } = Either.getOrThrow(decode(codec, row));
      return encode(codec, { ranges: ranges.slice(0, 1) });
    };
    bytes.commit(
      changes.map((change) =>
        change.op === "insert" && change.table === "ranges" && change.key.startsWith("b")
          ? { ...change, value: { ...change.value, row: first(change.value.row) } }
          : change,
      ),
      done,
    );
  },
});

const withOneStored = onSealed(() => ({ through: storingOne }));

export const damageBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "cries-damage",
    changes: "a peer takes a row that it does not have for one that does not hold",
    finds: "S57",
    schedule: "swarm",
    tampering: () => ({
      stepped: (_world, _peer, { fitness, undecided }) => {
        if (undecided.highSeq > 3) Object.assign(fitness, { integrityFault: "approvers/none" });
      },
    }),
  },
  {
    name: "damage-ignored",
    changes: "a peer that finds its rows damaged goes on as if they were whole",
    finds: "S28",
    schedule: "row-tamper-delete",
    tampering: () => ({ ignoresDamage: true }),
  },
  {
    name: "missing-is-absent",
    changes: "a peer takes a record that it has and cannot find for one that was never registered",
    finds: "S25",
    schedule: "row-tamper-delete",
    tampering: () => ({ missesNothing: true }),
  },
  {
    name: "absence-unproven",
    changes: "a peer believes that a row never was where it finds none, without a look at its range",
    finds: "S25",
    orFinds: ["S28"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withAbsence }),
  },
  {
    name: "page-unproven",
    changes: "a peer lists what it finds, without a look at the ranges of the page",
    finds: "S40",
    orFinds: ["S28"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withPages }),
  },
  {
    name: "started-unsealed",
    changes: "a process is started on rows as they lie there, whose seals are looked at when it is unsealed",
    finds: "S28",
    orFinds: ["E1"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withUnsealedStart }),
  },
  {
    name: "old-proof-believed",
    changes: "a peer believes the proof that a row carries as in version 1, whoever has made it",
    finds: "S28",
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withOldProofs }),
  },
  {
    name: "range-unsummed",
    changes: "a peer takes the rows of a range for its own where they are as many as they were",
    finds: "S28",
    orFinds: ["S13", "H1"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withoutMac(RANGE_TAG) }),
  },
  {
    name: "ranges-unchained",
    changes: "a peer believes where ranges begin and end, and what stands for each, whatever the head says",
    finds: "S13",
    orFinds: ["S28", "S25", "S40", "S57", "L5"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withoutChain }),
  },
  {
    name: "open-unsummed",
    changes: "a peer believes the rows that lie in open ranges, whatever the head says",
    finds: "S28",
    orFinds: ["S11", "S13", "S25", "L5"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withoutMac(OPEN_TAG) }),
  },
  {
    name: "one-range-stored",
    changes: "a peer stores one of the ranges that a transaction has changed or cut",
    finds: "L5",
    orFinds: ["S57"],
    schedule: "rows-unread",
    crypto: "codec",
    tampering: () => ({ cryptography: withOneStored }),
  },
  {
    name: "seal-gone-with-first",
    changes: "the seal of a transaction goes with the first of its rows, where others are still proven by it",
    finds: "L5",
    orFinds: ["S13", "S57"],
    crypto: "codec",
    tampering: () => ({ cryptography: withDroppedSeals }),
  },
  {
    name: "seals-kept",
    changes: "the seal of a transaction stays when all rows that it proves are gone",
    finds: "L2",
    orFinds: ["L5", "S57"],
    crypto: "codec",
    tampering: () => ({ cryptography: withKeptSeals }),
  },
  {
    name: "unverified-signer",
    changes: "a peer uses its keys before its rows are verified",
    finds: "S28",
    tampering: () => ({ signsUnverified: true }),
  },
  {
    name: "start-forgotten",
    changes: "a peer goes on from the rows it was started on, whichever are verified when it is unsealed",
    finds: "S13",
    orFinds: ["S28"],
    schedule: "row-tamper-delete",
    tampering: () => ({ forgetsStart: true }),
  },
  {
    name: "verifying-forgotten",
    changes: "a peer does not know any more that its rows are being verified when its keys come into use",
    finds: "S38",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        if (state.fitness.verifying) Object.assign(state, { fitness: { ...state.fitness, verifying: false } });
      },
    }),
  },
  {
    name: "announced-damaged",
    changes: "a peer whose rows do not hold shows others the new incarnation that lies in them",
    finds: "S31",
    orFinds: ["S28"],
    schedule: "torn-restore",
    tampering: shows(isDamaged, announcement),
  },
  {
    name: "announced-sealed",
    changes: "a sealed peer shows others the new incarnation that lies in its rows",
    finds: "S31",
    orFinds: ["S28"],
    schedule: "torn-restore",
    tampering: shows(isSealed, announcement),
  },
  {
    name: "highest-slot-damaged",
    changes: "a writer whose rows do not hold shows others the receipt for its highest slot that lies in them",
    finds: "S2",
    orFinds: ["S28"],
    schedule: "torn-reservation",
    crypto: "codec",
    tampering: shows(isDamaged, highestSlot),
  },
  {
    name: "highest-slot-sealed",
    changes: "a sealed writer shows others the receipt for its highest slot that lies in its rows",
    finds: "S2",
    orFinds: ["S28"],
    schedule: "torn-reservation",
    crypto: "codec",
    tampering: shows(isSealed, highestSlot),
  },
];
