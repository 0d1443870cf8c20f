/**
 * What a peer stores: one typed row per key, in named tables. The codecs, after the number of their version
 * (Composition.ts), are the storage format; keys are ASCII, and numbers in them padded so that byte order is numeric
 * order.
 */
import {
  bool,
  bytes,
  digest,
  list,
  nullable,
  oneOf,
  publicKey,
  record,
  signature,
  text,
  type TypeOf,
  uint,
} from "../codec/Codec.ts";
import { formsOf, kept } from "../codec/Versioned.ts";
import { Limits } from "../base/Limits.ts";
import { certificateCodec } from "./Certificate.ts";
import { seenCodec } from "./Message.ts";
import { calledCodec } from "./OperatorAct.ts";
import { actorCodec, proposalCodec } from "./Proposal.ts";
import { signedRestorationFields } from "./Restoration.ts";
import { batchHeaderCodec, signedStatementCodec } from "./Statement.ts";
import { EPOCHS_SINCE, pinnedCodec, topologyCodec } from "./Topology.ts";

/** The digests of 65,536 rows: no transaction writes more. */
export const LEAVES_BYTES = 32 * 65_536;

/** A table's name, a slash and a key. */
export const NAME_CHARACTERS = 1024;
/** Ranges in one row of them. */
export const RANGES_IN_ROW = 65_536;

const auditFields = {
  id: digest,
  peerId: uint,
  /** Names the integrity key that seals the row, among all this peer ever used. */
  integrityKeyVersion: uint,
  seq: uint,
  prevHash: digest,
  /** When it was applied here; for an operator's call, when it was answered. */
  timestamp: uint,
  /** The event of a command, `CLUSTER_FOUNDED`, or an operator's call. */
  event: text(64),
  /** Absent for the founding, which nobody requested. */
  actor: nullable(actorCodec),
  /** For a change of the registry only. */
  approverRef: nullable(text(256)),
  metadataRevision: nullable(uint),
  /** The peer that vouched for the actor's request: anybody who sees a token can ask in its bearer's name. */
  entryPeer: nullable(uint),
  request: nullable(calledCodec),
  outcome: text(64),
  /** For an operator's call only: its request id, and how often the same was refused in a minute. */
  requestId: nullable(text(128)),
  detail: text(Limits.auditDetailBytes),
  times: uint,
};

/** Rows since version 3 say which key was changed, too. */
const auditForms = formsOf(record(auditFields)).since(
  3,
  record({ ...auditFields, keyId: nullable(text(Limits.keyIdCharacters)), generation: nullable(uint) }),
  (older) => ({ ...older, keyId: undefined, generation: undefined }),
);

export const protocolTables = {
  /** This peer as it was initialized. */
  peer: record({
    peerId: uint,
    threshold: uint,
    total: uint,
    identityKey: publicKey,
    integrityKey: publicKey,
    nonce: digest,
    /** Until the first unseal, initialization may be repeated. */
    unsealedOnce: bool,
  }),
  /** Private keys, encrypted under the seal. */
  vault: record({ blob: bytes(64 * 1024) }),
  /** By version, from 2: the integrity keys that came after the first, which is named in the peer row. */
  integrity: record({
    publicKey,
    /** The private key, encrypted under one that only the unsealed peer has. */
    blob: bytes(1024),
  }),
  /** The one topology this peer signed in genesis. */
  genesis: record({ topology: topologyCodec, signature }),
  topology: pinnedCodec,
  /** By epoch: the topologies before that one, each with the members that signed for the slots of its time. */
  epochs: formsOf(pinnedCodec, EPOCHS_SINCE),
  /** Counters that advance with every transaction. */
  counters: record({
    incarnation: uint,
    batchNo: uint,
    batchHash: digest,
    auditSeq: uint,
    auditHash: digest,
    /** The number of the last act kept outside the rows that is in the audit. */
    keptNo: uint,
    highSeq: uint,
    decidedSeq: uint,
    approvers: uint,
    registrySet: bytes(4096),
    /** Why this peer must not sign until it is restored. */
    quarantine: nullable(text(256)),
  }),
  /**
   * Every header stays: whatever others show of this incarnation is looked for among them (Rollback.ts), and a backup is
   * judged by their chain.
   */
  batches: record({ header: batchHeaderCodec, signature }),
  seen: seenCodec,
  preparations: record({
    proposal: proposalCodec,
    state: oneOf(["PREPARED", "PLEDGED"]),
    own: signedStatementCodec,
    writerReceipt: signedStatementCodec,
    /** Another member's refusal, and the pledge this peer made on it: both or neither. */
    refusal: nullable(signedStatementCodec),
    pledge: nullable(signedStatementCodec),
  }),
  /** Until the proposal is aborted by all. */
  refusals: record({
    proposal: proposalCodec,
    writerReceipt: signedStatementCodec,
    refusal: signedStatementCodec,
  }),
  /** Which proposal a slot is bound to and its outcome; kept for ever. */
  slots: record({
    proposalId: digest,
    outcome: oneOf(["PREPARED", "REFUSED", "APPLIED", "ABORTED"]),
    ack: nullable(signedStatementCodec),
    /** Kept with an aborted outcome: the only remaining proof that the writer used the slot. */
    writerReceipt: nullable(signedStatementCodec),
  }),
  /** This peer's last declared restore, if any, and whether it still has to take the registry from others. */
  restore: record({
    ...signedRestorationFields,
    recovering: bool,
    /** The incarnations of all members, in member order, at the end of its last recovery; empty before the first. */
    incarnations: list(uint, Limits.members),
  }),
  /** The restore for which a member's whole registry was taken over: reads are served while others are still asked. */
  readable: record({ recoveryId: digest }),
  /** Aborted proposals whose slot was bound to another one here, or to none. */
  strays: record({ ack: signedStatementCodec }),
  /** At the writer: aborted proposals whose locks it keeps until every member has aborted them. */
  aborts: record({
    proposal: proposalCodec,
    writerReceipt: signedStatementCodec,
    /** The abort votes of all members. */
    votes: list(signedStatementCodec, Limits.members),
  }),
  /** Of every applied proposal, for ever: a restored member takes only what is certified (protocol.md 4i). */
  certificates: certificateCodec,
  /** Until every member has acknowledged what was applied. */
  outbox: record({ proposalId: digest, epoch: uint, seq: uint }),
  /** Kept for ever, a chain from the first. */
  audit: kept(auditForms),
  /** Counters and a digest over all ranges of rows, written by the integrity layer. */
  head: record({ transactions: uint, rows: uint, digest }),
  /**
   * By number, the transactions of which rows are still there: the digests of all rows that each wrote, signed; written
   * by the integrity layer, and not among the rows that the head counts.
   */
  seals: record({
    /** Names the key among those this peer ever used. */
    keyVersion: uint,
    leaves: bytes(LEAVES_BYTES),
    signature,
  }),
  /**
   * All rows but the head and these, cut into ranges of names: in `a` all of them as they were once, in `b`, by
   * transaction, those that have changed since. Written by the integrity layer, and proven as a whole by the head.
   */
  ranges: record({
    ranges: list(
      record({
        /** The range begins behind this name, and ends where the next one begins. */
        after: text(NAME_CHARACTERS),
        /** None: what was a range is part of the one before it. */
        rows: uint,
        /** Zeros where the head has the sum of its rows, among others that change all the time. */
        digest,
      }),
      RANGES_IN_ROW,
    ),
  }),
};

/** Named tables, each with the codec of its rows. */
export type Tables = { readonly [table: string]: object };
export type RowsOf<C> = { readonly [T in keyof C]: TypeOf<C[T]> };

/** The rows of agreement itself; modules have tables of their own. */
export type Rows = RowsOf<typeof protocolTables>;
export type TableName = keyof Rows;

/** The key in tables that hold one row. */
export const SELF = "self";

const ZEROS = "0".repeat(16);
/** A number as a key: byte order is numeric order. Every transaction makes some, and padding by V8 takes twice as long. */
export const numberKey = (value: number): string => {
  const digits = String(value);
  return ZEROS.slice(digits.length) + digits;
};

/** A slot's key: epoch, then seq. */
export const slotKey = (epoch: number, seq: number): string => `${numberKey(epoch)}.${numberKey(seq)}`;

/** Reads committed rows; a tampered row throws before it is seen. */
export interface View<R> {
  readonly get: <T extends keyof R & string>(table: T, key: string) => R[T] | undefined;
  /** Rows with a key greater than `after`, ascending, at most `limit`. */
  readonly scan: <T extends keyof R & string>(
    table: T,
    after: string,
    limit: number,
  ) => ReadonlyArray<{ readonly key: string; readonly row: R[T] }>;
}
export type RowView = View<Rows>;

/** The same rows as a module sees its own tables. */
export const viewOf = <C extends Tables>(view: RowView, _tables: C): View<RowsOf<C>> =>
  // The tables of all modules are in one store; the root of the core puts them together (core/Tables.ts).
  view as unknown as View<RowsOf<C>>;

/** A change of a row of one table. */
export type WriteTo<R, T extends keyof R> =
  | { readonly op: "insert" | "replace"; readonly table: T; readonly key: string; readonly row: R[T] }
  | { readonly op: "remove"; readonly table: T; readonly key: string };

/** One row change. Inserting a key that exists, or changing one that does not, is a broken invariant. */
export type WriteOf<R> = { readonly [T in keyof R]: WriteTo<R, T> }[keyof R];
export type Write = WriteOf<Rows>;
