/**
 * Everything peers say to each other. Each message travels in an envelope bound to sender, receiver and topology
 * (protocol.md 2), which its sender signs, or for which a session vouches; the transport checks that, the core checks
 * everything inside.
 */
import {
  bool,
  bytes,
  digest,
  list,
  nullable,
  oneOf,
  record,
  signature,
  text,
  type TypeOf,
  uint,
  union,
  type Variant,
} from "../codec/Codec.ts";
import { formsOf } from "../codec/Versioned.ts";
import { writtenIn } from "../codec/Versioned.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { rejectionCodes } from "../base/Rejection.ts";
import { certificateCodec } from "./Certificate.ts";
import { forwardCodec } from "./Forward.ts";
import { cardCodec } from "./GenesisCard.ts";
import { modes } from "./Mode.ts";
import { momentCodec } from "./Moment.ts";
import { KIND_BYTES, proposalCodec } from "./Proposal.ts";
import { signedRestorationCodec } from "./Restoration.ts";
import { snapshotItemCodec } from "./Snapshot.ts";
import { spanCodec } from "./SnapshotSpan.ts";
import { signedHeaderCodec, signedStatementCodec } from "./Statement.ts";
import { pinnedCodec } from "./Topology.ts";

const statements = list(signedStatementCodec, CAPACITIES.preparations * 2);

/**
 * What a peer remembers of another: its incarnation with the announcement that raised it, and the header of the newest
 * batch seen from that incarnation.
 */
export const seenCodec = record({
  peerId: uint,
  incarnation: uint,
  newest: nullable(signedHeaderCodec),
  /** Absent for a member that was never restored. */
  restored: nullable(signedRestorationCodec),
});
export type Seen = TypeOf<typeof seenCodec>;

const incarnationCodecs = {
  /** The sender's own last restore, which the receiver records before it answers or believes anything. */
  restored: nullable(signedRestorationCodec),
  /** The receiver's last restore that the sender has on record. */
  recorded: nullable(signedRestorationCodec),
};

const readyCodec = record({
  nonce: digest,
  peerId: uint,
  topologyDigest: nullable(digest),
  configDigest: digest,
  mode: oneOf(modes),
  sealed: bool,
  integrityOk: bool,
  /** Whether the keys that verify tokens are available. */
  judgesTokens: bool,
  incarnation: uint,
  batchNo: uint,
  batchHash: digest,
  /** The highest slot bound here, with the writer's receipt that proves it. */
  highSeq: uint,
  highSeqProof: nullable(signedStatementCodec),
  uncommitted: uint,
  refusals: uint,
  registryRoot: digest,
  approvers: uint,
  /** The sender's wall clock, in Unix milliseconds. */
  clock: uint,
  /** Absent while it is sealed. */
  moment: nullable(momentCodec),
  /** The newest batch of the receiver that the sender has seen, so that a receiver with less than that notices. */
  seen: nullable(signedHeaderCodec),
  ...incarnationCodecs,
});
export type Ready = TypeOf<typeof readyCodec>;

const rejectionCodec = record({
  code: oneOf(rejectionCodes),
  detail: text(4096),
  hint: text(4096),
  faults: list(record({ pointer: text(4096), code: text(64), detail: text(4096) }), Limits.listedFaults),
  members: list(record({ peerId: uint, reason: text(1024) }), Limits.members),
  ref: nullable(text(256)),
  outcomeUnknown: bool,
});

export const outcomeCodec = union({
  /** The certificate and every member's acknowledgement: nothing has to be believed. */
  Confirmed: record({ certificate: certificateCodec, acks: statements }),
  /** The approver was registered before; the entry peer has every member say so (`StoredQuery`). */
  Existing: record({ ref: text(256) }),
  Rejected: record({ rejection: rejectionCodec }),
  /** The answer of an exchange, in its own codec, together with its proof. */
  Exchanged: record({ answer: bytes(Limits.exchangeBytes) }),
});

const prepareItemCodec = record({ proposal: proposalCodec, receipt: signedStatementCodec, evidence: forwardCodec });
export type PrepareItem = TypeOf<typeof prepareItemCodec>;

const settleItemCodec = record({ proposal: proposalCodec, receipt: signedStatementCodec });
export type SettleItem = TypeOf<typeof settleItemCodec>;

const abortItemCodec = record({
  proposal: proposalCodec,
  receipt: signedStatementCodec,
  votes: list(signedStatementCodec, Limits.members),
});
export type AbortItem = TypeOf<typeof abortItemCodec>;

export const batch = <A>(codec: Parameters<typeof list<A>>[0]) => list(codec, CAPACITIES.proposalsPerMessage);

const requestFields = { recoveryId: digest, nonce: digest, after: text(64) };
const offerFields = {
  recoveryId: digest,
  nonce: digest,
  after: text(64),
  /** The sender's registry, with nothing undecided in it; the same in every offer of a round. */
  cutoff: record({ topologyDigest: digest, root: digest, count: uint }),
  items: batch(snapshotItemCodec),
  /** All slots up to this key are in `items`; absent where there are no more. */
  upTo: nullable(text(64)),
  /** Present where the sender is being restored itself; only the writer asks for that (Union.ts). */
  own: nullable(
    record({
      recoveryId: digest,
      /** The incarnations of all members, in member order, at the end of its last recovery. */
      incarnations: list(uint, Limits.members),
      /** With the first page: its refusals in this incarnation, and its aborts without a slot to show for them. */
      refused: list(digest, CAPACITIES.preparations + CAPACITIES.refusals),
      strays: list(digest, CAPACITIES.refusals),
    }),
  ),
};

export const protocolMessages = {
  /** The MAC is absent where the sender has no secret: then only a founded peer can answer it. */
  GenesisCard: record({ card: cardCodec, mac: nullable(digest) }),
  GenesisVote: record({ topologyDigest: digest, signature }),
  GenesisPinned: record({ pinned: pinnedCodec }),
  /** Why the sender will not found a cluster with the receiver; under the bootstrap secret. */
  GenesisRefused: record({ card: cardCodec, mac: digest, reason: text(256) }),
  ReadyProbe: record({
    nonce: digest,
    topologyDigest: digest,
    configDigest: digest,
    /** The sender's process, so that a writer that has not heard of it probes it in turn. */
    process: nullable(digest),
    /** As in `Ready`. */
    seen: nullable(signedHeaderCodec),
    ...incarnationCodecs,
  }),
  Ready: readyCodec,
  Forward: record({ forward: forwardCodec }),
  /** The writer has the request: from here on the entry peer waits for its outcome. */
  Forwarded: record({ requestId: text(Limits.requestIdCharacters) }),
  Outcome: record({ requestId: text(Limits.requestIdCharacters), outcome: outcomeCodec }),
  Prepare: record({ items: batch(prepareItemCodec), stableSeq: uint }),
  /** Receipts and abort votes, the sender's own or others' that it holds. */
  Votes: record({ statements }),
  /**
   * `acks`: the sender's own acknowledgements of these, as far as they are flushed; they release members that pledged
   * on a refusal whose refuser has contradicted itself.
   */
  Commit: record({ certificates: batch(certificateCodec), acks: batch(signedStatementCodec), stableSeq: uint }),
  CommitAcks: record({ statements }),
  SettleQuery: record({ items: batch(settleItemCodec), demandFinal: bool, nonce: digest }),
  SettleAnswer: record({
    nonce: digest,
    items: batch(
      record({
        proposalId: digest,
        state: oneOf(["UNKNOWN", "PREPARED", "PLEDGED", "REFUSED", "APPLIED", "ABORTED"]),
        /** At most a receipt and an abort vote of every member. */
        held: list(signedStatementCodec, 2 * Limits.members),
      }),
    ),
  }),
  /** Abort votes known to the sender, at least one of them a refusal; asks for the receiver's own. */
  AbortRequest: record({ items: batch(abortItemCodec) }),
  /** A restored member asks one that was not for its outcomes, in the order of the slots, after this key. */
  SnapshotRequest: formsOf(record(requestFields)).since(
    3,
    record({
      ...requestFields,
      /** What the sender has after that key, if it has all of it decided. */
      here: nullable(spanCodec),
    }),
    (older) => ({ ...older, here: undefined }),
  ),
  SnapshotOffer: formsOf(record(offerFields)).since(
    3,
    record({
      ...offerFields,
      /** In place of items: the receiver's slots up to that key are the sender's too. */
      alike: nullable(digest),
    }),
    (older) => ({ ...older, alike: undefined }),
  ),
  /** An entry peer asks whether the receiver stores what existed before, under its command's name for it. */
  StoredQuery: record({ requestId: text(Limits.requestIdCharacters), kind: text(KIND_BYTES), ref: text(256) }),
  /** The sender stores it, in this incarnation of the sender and in this revision. */
  StoredAnswer: record({
    requestId: text(Limits.requestIdCharacters),
    ref: text(256),
    incarnation: uint,
    revision: uint,
  }),
};

/** The messages of agreement. */
export type ProtocolMessage = Variant<typeof protocolMessages>;

/** The bearer tokens in one of these. */
export const tokensOf = (message: ProtocolMessage): ReadonlyArray<string> => {
  if (message._tag === "Forward") return [message.forward.token];
  return message._tag === "Prepare" ? message.items.map(({ evidence }) => evidence.token) : [];
};

export type MessageOf<T extends ProtocolMessage["_tag"]> = Extract<ProtocolMessage, { readonly _tag: T }>;
/** The messages of modules, named by module and name, such as `Session.Votes`. */
export interface ModuleMessage {
  readonly _tag: `${string}.${string}`;
}
export type Message = ProtocolMessage | ModuleMessage;

export const isOfModule = (message: Message): message is ModuleMessage => message._tag.includes(".");
export type Outcome = TypeOf<typeof outcomeCodec>;

/** The version of the envelope itself: its reader learns what the sender speaks even if it can read no more. */
export const ENVELOPE_VERSION = 1;

/** The signed part: who says what to whom, in which topology. */
const envelopeFields = {
  from: uint,
  to: uint,
  /** What the sender speaks, and the version of the message. */
  versions: record({ lowest: uint, highest: uint }),
  version: uint,
  /** Absent until a topology is pinned. */
  topologyDigest: nullable(digest),
  /** Fresh for each envelope. */
  nonce: digest,
  /** The encoded message: nothing in it is looked at before the signature is verified. */
  message: bytes(Limits.envelopeBytes),
};
export const envelopeCodec = writtenIn(ENVELOPE_VERSION, record(envelopeFields));
export const ENVELOPE_TAG = "CUSTODY_ENVELOPE_V1";

export const signedEnvelopeCodec = writtenIn(
  ENVELOPE_VERSION,
  record({
    ...envelopeFields,
    /** Absent only where the sender is sealed and answers a probe. */
    signature: nullable(signature),
  }),
);
