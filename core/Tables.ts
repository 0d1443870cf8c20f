/**
 * What a peer stores: one typed row per key, in named tables. The codecs are the
 * storage format; keys are ASCII, numbers in them padded so that byte order is
 * numeric order.
 */
import {
  bool,
  bytes,
  type Codec,
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
} from "./codec/Codec.ts";
import { Limits } from "./Limits.ts";
import { sessionCodec } from "./enrollment/Session.ts";
import { certificateCodec } from "./protocol/Certificate.ts";
import { seenCodec } from "./protocol/Message.ts";
import { calledCodec, operatorCalls } from "./protocol/OperatorAct.ts";
import { actorCodec, metadataCodec, observationsCodec, proposalCodec } from "./protocol/Proposal.ts";
import { signedRestorationFields } from "./protocol/Restoration.ts";
import { batchHeaderCodec, signedStatementCodec } from "./protocol/Statement.ts";
import { pinnedCodec, topologyCodec } from "./protocol/Topology.ts";

const codecs = {
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
  /** By version, from 2: the integrity keys that came after the first, which the peer row names. */
  integrity: record({
    publicKey,
    /** The private key, encrypted under one that only the unsealed peer has. */
    blob: bytes(1024),
  }),
  /** The one topology this peer signed in genesis. */
  genesis: record({ topology: topologyCodec, signature }),
  topology: pinnedCodec,
  /** What advances with every transaction. */
  counters: record({
    incarnation: uint,
    batchNo: uint,
    batchHash: digest,
    auditSeq: uint,
    auditHash: digest,
    /** Of operators' calls that were kept outside the rows, the number of the last one that is in the audit. */
    keptNo: uint,
    highSeq: uint,
    decidedSeq: uint,
    approvers: uint,
    registrySet: bytes(4096),
    /** Why this peer must not sign until it is restored. */
    quarantine: nullable(text(256)),
  }),
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
  refusals: record({
    proposal: proposalCodec,
    writerReceipt: signedStatementCodec,
    refusal: signedStatementCodec,
  }),
  /** Which proposal a slot is bound to and what became of it; kept for ever. */
  slots: record({
    proposalId: digest,
    outcome: oneOf(["PREPARED", "REFUSED", "APPLIED", "ABORTED"]),
    ack: nullable(signedStatementCodec),
    /** Kept with an aborted outcome: nothing else is left that shows that the writer used the slot. */
    writerReceipt: nullable(signedStatementCodec),
  }),
  /** This peer's last declared restore, once there is one, and whether it still has to take the registry from others. */
  restore: record({
    ...signedRestorationFields,
    recovering: bool,
    /** The incarnations of all members, in member order, when it last had all of it; none before the first time. */
    lives: list(uint, Limits.members),
  }),
  /** The restore for which a member's whole registry was taken over: reads are served, although others are still asked. */
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
  approvers: record({
    id: text(Limits.approverIdCharacters),
    ref: text(256),
    descriptor: text(4 * Limits.publicKeyBytes),
    keyIdentity: digest,
    metadata: metadataCodec,
    revision: uint,
    createdAt: uint,
    updatedAt: uint,
  }),
  /** The owner of a key, whatever format it was registered in. */
  keys: record({ id: text(Limits.approverIdCharacters) }),
  /** The approver that has a credential of an authenticator, by (rpId, credentialId). */
  credentials: record({ ref: text(256) }),
  /** What was observed of an approver's authenticator, by ref; it is no part of the ref (contract 2.3). */
  observations: observationsCodec,
  /** Enrollment sessions, by registration id, until an hour past their deadline. */
  sessions: record({
    session: sessionCodec,
    /** This peer's own acknowledgement. */
    ack: signedStatementCodec,
    /** The one response that has completed it, and what that registered. */
    completed: nullable(record({ responseDigest: digest, ref: text(256) })),
  }),
  /** The proposal that completed a session, by registration id; kept for ever, as its certificate is. */
  completions: record({ proposalId: digest }),
  certificates: certificateCodec,
  outbox: record({ proposalId: digest, epoch: uint, seq: uint }),
  audit: record({
    id: digest,
    peerId: uint,
    /** Names the integrity key the row is sealed with, among those this peer ever used. */
    integrityKeyVersion: uint,
    seq: uint,
    prevHash: digest,
    /** When it was applied here; of an operator's call, when it was answered. */
    timestamp: uint,
    event: oneOf(["APPROVER_REGISTERED", "APPROVER_METADATA_REPLACED", "CLUSTER_FOUNDED", ...operatorCalls]),
    /** Absent where nobody asked: the founding. */
    actor: nullable(actorCodec),
    /** Of a change of the registry only. */
    approverRef: nullable(text(256)),
    metadataRevision: nullable(uint),
    /** Which peer vouched for it that this actor asked for this: whoever sees a token can ask in its bearer's name. */
    entryPeer: nullable(uint),
    request: nullable(calledCodec),
    outcome: text(64),
    /** Of an operator's call only: its request id, and how often the same was refused in a minute. */
    requestId: nullable(text(128)),
    detail: text(512),
    times: uint,
  }),
  /** Counters and a digest over all other rows, written by the integrity layer. */
  head: record({ transactions: uint, rows: uint, digest }),
};

export type TableName = keyof typeof codecs;
export type Rows = { readonly [T in TableName]: TypeOf<(typeof codecs)[T]> };

export const tableNames = Object.keys(codecs) as ReadonlyArray<TableName>;

export const rowCodec = <T extends TableName>(table: T): Codec<Rows[T]> => codecs[table] as unknown as Codec<Rows[T]>;

/** Key of the tables that hold one row. */
export const SELF = "self";

const DIGITS = 16;
const REMEMBERED_KEYS = 16_384;

/**
 * Makes keys of numbers, and gives the same text again for the same number: the same few
 * numbers come again and again, and every map hashes a text that it has not seen before.
 */
const keyMaker = (make: (value: number) => string): ((value: number) => string) => {
  const made = new Map<number, string>();
  return (value) => {
    const known = made.get(value);
    if (known !== undefined) return known;
    if (made.size >= REMEMBERED_KEYS) made.clear();
    const key = make(value);
    made.set(value, key);
    return key;
  };
};

/** A number as a key: byte order is numeric order. */
export const numberKey = keyMaker((value) => String(value).padStart(DIGITS, "0"));

const slotKeysOf = (epoch: number): ((seq: number) => string) =>
  keyMaker((seq) => `${numberKey(epoch)}.${numberKey(seq)}`);

/** Slots of one epoch are talked about at a time. */
let current = { epoch: 1, keyOf: slotKeysOf(1) };

/** A slot's key: epoch, then seq. */
export const slotKey = (epoch: number, seq: number): string => {
  if (current.epoch !== epoch) current = { epoch, keyOf: slotKeysOf(epoch) };
  return current.keyOf(seq);
};

/** Reads committed rows; a tampered row throws before it is seen. */
export interface RowView {
  readonly get: <T extends TableName>(table: T, key: string) => Rows[T] | undefined;
  /** Rows with a key greater than `after`, ascending, at most `limit`. */
  readonly scan: <T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ) => ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }>;
}

/** A change of a row of one table. */
export type WriteTo<T extends TableName> =
  | { readonly op: "insert" | "replace"; readonly table: T; readonly key: string; readonly row: Rows[T] }
  | { readonly op: "remove"; readonly table: T; readonly key: string };

/** One row change. Inserting a key that exists, or changing one that does not, is a broken invariant. */
export type Write = { readonly [T in TableName]: WriteTo<T> }[TableName];
