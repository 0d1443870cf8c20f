/**
 * What a peer keeps in memory: the protocol's open business and small counters.
 * Records stay in the store. Everything here can be rebuilt from the store
 * (Boot.ts), except what waits for a caller or an answer, which a crash forgets.
 */
import type { Intent, Target } from "./Command.ts";
import type { Digest, SetAccumulator, Signature } from "../base/Digest.ts";
import type { TimerName } from "./Event.ts";
import type { Certificate } from "./Certificate.ts";
import type { Pace } from "./Admission.ts";
import type { Call, Forward } from "./Forward.ts";
import type { GenesisCard } from "./GenesisCard.ts";
import type { Ready, Seen, SettleItem } from "./Message.ts";
import type { Moment } from "./Moment.ts";
import type { Actor, Proposal } from "./Proposal.ts";
import type { SignedRestoration } from "./Restoration.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Membership, PeerId } from "./Topology.ts";
import type { Disk, Shown, United } from "./Union.ts";
import type { MemberFault, Rejection } from "../base/Rejection.ts";
import type { Rows } from "./Tables.ts";

/** Before a topology is pinned: who introduced itself, and who signed what this peer signed. */
export interface Founding {
  readonly cards: ReadonlyMap<PeerId, GenesisCard>;
  readonly vote: (Rows["genesis"] & { readonly digest: Digest }) | undefined;
  readonly signatures: ReadonlyMap<PeerId, Signature>;
  /** Refusals by name, for the operator. */
  readonly faults: ReadonlyMap<PeerId, string>;
}

/** The newest row of this peer's own audit, and what operators did as far as it is there. */
interface AuditChain {
  readonly seq: number;
  readonly hash: Digest;
  /** The last act that was kept outside the rows, and the last one of this process. */
  readonly keptNo: number;
  readonly lastNo: number;
}

/** The chain of this peer's own statement batches. */
export interface Chain {
  readonly incarnation: number;
  readonly batchNo: number;
  readonly hash: Digest;
}

/** A proposal this peer has prepared and not yet seen decided. */
export interface Preparation {
  readonly id: Digest;
  readonly proposal: Proposal;
  readonly writerReceipt: SignedStatement;
  readonly own: SignedStatement;
  readonly receipts: ReadonlyMap<PeerId, SignedStatement>;
  /** A refusal of another member: no certificate can exist any more, and this peer has pledged so. */
  readonly refusal: SignedStatement | undefined;
  readonly pledge: SignedStatement | undefined;
  /** Abort votes by signer, this peer's own among them. */
  readonly votes: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it was prepared (or loaded), and when the others were last asked about it. */
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** A proposal this peer has refused and not yet seen aborted; the rest of it is in its row. */
export interface Refused {
  readonly id: Digest;
  readonly proposal: Pick<Proposal, "epoch" | "seq">;
  readonly bindsSlot: boolean;
  readonly writerReceipt: SignedStatement;
  /** Abort votes by signer, this peer's own refusal among them. */
  readonly votes: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it was refused (or loaded), and when the others were last asked about it. */
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** At the writer: an aborted proposal that not every member is known to have aborted. */
export interface Aborting {
  readonly id: Digest;
  readonly proposal: Proposal;
  readonly writerReceipt: SignedStatement;
  /** The abort votes of all members. */
  readonly votes: ReadonlyArray<SignedStatement>;
  readonly acks: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it was aborted (or loaded), and when the others were last told. */
  readonly preparedAt: number;
  readonly askedAt: number;
}

/** A committed proposal that not every member is known to have applied. */
export interface Delivery {
  readonly id: Digest;
  readonly seq: number;
  readonly proposal: Proposal;
  readonly acks: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when it is sent again to whoever has not acknowledged it. */
  readonly dueAt: number;
  /** Acknowledged by all, so that its row may go with the next transaction. */
  readonly isPrunable: boolean;
}

/** A caller's request at the writer, judged well-formed and permitted, waiting for its round. */
export interface Queued {
  readonly forward: Forward;
  readonly actor: Actor;
  readonly tokenExpiresAt: number;
  readonly intent: Intent;
  /** Whether it is known to be no late copy: when it came, no refusal as old as it had been forgotten. */
  readonly isFirst: boolean;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** Who waits for an answer of the writer: no body, no token. */
export interface Caller {
  readonly entryPeer: PeerId;
  readonly requestId: string;
  /** When it came in there. */
  readonly arrival: Moment;
  /** What it asks for, as far as the request could be understood. */
  readonly target: Target | undefined;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** A forwarded request that was refused, and what its caller was told. */
export interface TurnedAway extends Pick<Caller, "arrival"> {
  readonly rejection: Rejection;
}

/** The writer's memory of a proposal it made in this process. */
export interface Round {
  readonly id: Digest;
  /** What members need to judge it; dropped when all have, when one has refused, or when the deadline has passed. */
  readonly evidence: Forward | undefined;
  /** What a member refused it with; its callers are told when it is aborted. */
  readonly refusal: SignedStatement | undefined;
  /** Present once every member's receipt is here. */
  readonly certificate: Certificate | undefined;
  /** The request that made it, until it is answered. */
  readonly creator: Caller | undefined;
  /** Requests for the same approver that came while it was under way; should it be refused, they queue again. */
  readonly joiners: ReadonlyArray<Queued>;
}

export interface Probe {
  readonly nonce: Digest;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** What was seen of the others when it began: an answer must not fall behind it. */
  readonly seen: ReadonlyMap<PeerId, Seen>;
  readonly answers: ReadonlyMap<PeerId, Answered>;
  /** Members that have sent something else meanwhile: they are there. */
  readonly heard: ReadonlySet<PeerId>;
}

/** A member's answer, and when it came, in monotonic milliseconds: this peer's own wall clock may be set meanwhile. */
export interface Answered {
  readonly ready: Ready;
  readonly answeredAt: number;
}

/** The conclusion of a probe: no fault means that every member answered ready. Monotonic milliseconds. */
export interface Verdict {
  readonly probedAt: number;
  readonly concludedAt: number;
  /** What the own wall clock was ahead of the monotonic one: the others' were held against that. */
  readonly wallAhead: number;
  readonly faults: ReadonlyArray<MemberFault>;
}

/** What callers ask for: a change, or what a module answers without one. */
export type Request = Intent | Target;

/** A request that entered here and waits for its turn to be forwarded: the writer knows nothing of it. */
export interface Entering {
  readonly requestId: string;
  readonly call: Call;
  readonly token: string;
  /** Who sends it, as places are shared (Admission.ts). */
  readonly actor: string;
  readonly request: Request;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** A request that entered here and was forwarded to the writer. */
export interface Awaited {
  readonly forward: Forward;
  readonly actor: string;
  /** Which forward of this process it is, from 1. */
  readonly serial: number;
  /** What it asks for, as this peer understood it. */
  readonly request: Request;
  readonly acknowledged: boolean;
  /** What it has led to was applied here: what the writer says of a later copy is not the last word. */
  readonly isApplied: boolean;
  /** The writer's certain no, held back while this peer has itself signed for the request. */
  readonly denial: Rejection | undefined;
  /**
   * Once the writer has said that the approver was there before: the members that say themselves that they store it,
   * in which of their lives, and how new.
   */
  readonly storedAt: ReadonlyMap<PeerId, { readonly incarnation: number; readonly revision: number }> | undefined;
  /** Monotonic milliseconds: when it came, when it was forwarded first, and when last. */
  readonly arrivedAt: number;
  readonly forwardedAt: number;
  readonly sentAt: number;
}

/** What the approvers read so far come to, and what their revisions add up to. */
export interface Sum {
  readonly after: string;
  readonly set: SetAccumulator;
  readonly count: number;
  readonly revisions: number;
  /** Whether each one so far is the owner of its key. */
  readonly isSound: boolean;
}

/** At the writer, where every member is being restored: all their registries become one (Union.ts). */
export interface Union {
  /** Whose registries are put together with its own, in this order, each in the life it must stay in. */
  readonly sources: ReadonlyArray<{ readonly peerId: PeerId; readonly recoveryId: Digest }>;
  /** Which of them is asked. */
  readonly at: number;
  /** This peer's own disk, and those of the sources that were asked so far. */
  readonly disks: ReadonlyArray<Disk>;
  /** What they have shown, page by page. */
  readonly looks: ReadonlyArray<ReadonlyArray<Shown>>;
  /** What they come to, once all were looked at: nothing is changed before. */
  readonly united: United | undefined;
}

/** How far a restored peer has come with taking the registry from another member. */
export interface Transfer {
  readonly helper: PeerId;
  readonly union: Union | undefined;
  /** What every member that offered has: the registry must come to exactly this. */
  readonly root: Digest;
  readonly count: number;
  /** The last slot that is settled here. */
  readonly after: string;
  /** Whether every member was asked and all agree: then this peer is a member again with it. Else it can only show it. */
  readonly isShared: boolean;
  /** Something that nobody else has was taken away in this pass, so that what it hid may still be missing. */
  readonly undone: boolean;
  /** Pages without a slot, one after the other: a helper has no more of them than it may have of what is undecided. */
  readonly empty: number;
  /** Applied slots settled in this pass, and the highest slot that is settled. */
  readonly applied: number;
  readonly decided: number;
  /** Once all slots are settled: the registry read again from the first row, to see what it comes to. */
  readonly sum: Sum | undefined;
  /** Monotonic milliseconds: when it last moved on, and when it was last asked for more. */
  readonly movedAt: number;
  readonly askedAt: number;
}

/** What all others are asked about before a restored peer refuses it. */
export interface Inquiry {
  readonly item: SettleItem;
  /** Members that have not said yet that they have not applied it. */
  readonly silent: ReadonlySet<PeerId>;
  /** Whether somebody has said that it has prepared it, and whether a member other than the writer has. */
  readonly isOpen: boolean;
  readonly isShared: boolean;
}

/** A declared restore under way: this peer votes for nothing new. */
export interface Recovery {
  /** Of the round in which all members are asked what they have; undefined between rounds. */
  readonly nonce: Digest | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly answers: ReadonlyMap<PeerId, Ready>;
  readonly transfer: Transfer | undefined;
  readonly inquiries: ReadonlyMap<Digest, Inquiry>;
  /** Proposals that nobody but the writer had prepared, and that this life was to refuse, in this process. */
  readonly writersOwn: number;
  /** Another life of this peer has this incarnation, or a higher one: somebody has it on record, or shows what it signed. */
  readonly outbid: number | undefined;
  /** Whether it has the whole registry of a member that was not restored, and serves reads from it. */
  readonly isReadable: boolean;
  /** Members that offered what does not hold. */
  readonly distrusted: ReadonlySet<PeerId>;
  /** What it waits for; for the operator. */
  readonly waitsFor: string;
}

export interface PeerState {
  readonly peer: Rows["peer"] | undefined;
  readonly unsealed: boolean;
  /** Its keys are in memory, and not in use before its stored rows are verified. */
  readonly verifying: boolean;
  /** What did not hold, while this peer must not sign. */
  readonly integrityFault: string | undefined;
  /** Which of its integrity keys this peer seals rows with, from 1. */
  readonly integrityVersion: number;
  /** Why this peer knows that it ran from an old disk. */
  readonly quarantine: string | undefined;
  /** This peer's own last declared restore. */
  readonly restored: SignedRestoration | undefined;
  readonly recovery: Recovery | undefined;
  /** An operator has declared a restore of this sealed peer: it begins with the unseal. */
  readonly isDeclared: boolean;
  /** Members that have not yet shown this process that its memory is whole, and the nonce they are asked with. */
  readonly unproven: ReadonlySet<PeerId>;
  readonly joinNonce: Digest | undefined;
  /** The name of this process; absent until it is unsealed first. */
  readonly process: Digest | undefined;
  /**
   * Up to when requests that came in through each member may have been refused without this process remembering it, in
   * the present process of that member; at any time in others, or where there is no entry.
   */
  readonly forgottenUntil: ReadonlyMap<PeerId, Moment>;
  readonly founding: Founding;
  readonly membership: Membership | undefined;
  readonly pinned: Rows["topology"] | undefined;

  readonly chain: Chain;
  readonly audit: AuditChain;
  readonly registry: { readonly set: SetAccumulator; readonly approvers: number };
  /** The highest slot bound here with the writer's receipt for it, and the highest one decided. */
  readonly highSeq: number;
  readonly highProof: SignedStatement | undefined;
  readonly decidedSeq: number;
  readonly seen: ReadonlyMap<PeerId, Seen>;
  /** `seen` as it is on disk: behind the one in memory until the next transaction. */
  readonly seenWritten: ReadonlyMap<PeerId, Seen>;

  readonly preparations: ReadonlyMap<Digest, Preparation>;
  readonly refused: ReadonlyMap<Digest, Refused>;
  readonly aborting: ReadonlyMap<Digest, Aborting>;
  /** Lock name to the proposal that holds it. */
  readonly locks: ReadonlyMap<string, Digest>;
  readonly outbox: ReadonlyMap<number, Delivery>;
  /** How many of the outbox are prunable. */
  readonly prunable: number;

  readonly queue: ReadonlyArray<Queued>;
  readonly rounds: ReadonlyMap<Digest, Round>;
  /** The proposals of the newest batch that are still short of a receipt. */
  readonly collecting: ReadonlySet<Digest>;
  readonly probe: Probe | undefined;
  /** Callers that asked whether a mutation would be accepted. */
  readonly readinessWaiters: ReadonlyArray<string>;
  /** What the last probe found. */
  readonly verdict: Verdict | undefined;

  /** Forwarded requests refused for the state of the cluster, the newest ones of each entry peer, by request id. */
  readonly turnedAway: ReadonlyMap<PeerId, ReadonlyMap<string, TurnedAway>>;
  /** In the order in which they came. */
  readonly entering: ReadonlyArray<Entering>;
  /** Requests forwarded by this process. */
  readonly forwarded: number;
  /** How fast the line moves here: that of the writer, or of what waits to be forwarded to it. */
  readonly pace: Pace;
  /** Monotonic milliseconds: when the writer last sent anything. */
  readonly writerHeardAt: number;
  readonly awaited: ReadonlyMap<string, Awaited>;
  /** The newest requests that entered here and were denied for certain, oldest first, and when: monotonic milliseconds. */
  readonly denied: ReadonlyMap<string, number>;
  /** What modules remember, by their names (Module.ts). */
  readonly modules: { readonly [name: string]: object };
  /** When each armed timer is due, in monotonic milliseconds. */
  readonly timers: ReadonlyMap<TimerName, number>;
}

/** The state while a turn edits its own copy of it. */
export type StateDraft = { -readonly [K in keyof PeerState]: PeerState[K] };

/** A copy of the state for a turn to edit. Written out, because spreading this many fields costs more than a whole step. */
export const draftOf = (state: PeerState): StateDraft => ({
  peer: state.peer,
  unsealed: state.unsealed,
  verifying: state.verifying,
  integrityFault: state.integrityFault,
  integrityVersion: state.integrityVersion,
  quarantine: state.quarantine,
  restored: state.restored,
  recovery: state.recovery,
  isDeclared: state.isDeclared,
  unproven: state.unproven,
  joinNonce: state.joinNonce,
  process: state.process,
  forgottenUntil: state.forgottenUntil,
  founding: state.founding,
  membership: state.membership,
  pinned: state.pinned,
  chain: state.chain,
  audit: state.audit,
  registry: state.registry,
  highSeq: state.highSeq,
  highProof: state.highProof,
  decidedSeq: state.decidedSeq,
  seen: state.seen,
  seenWritten: state.seenWritten,
  preparations: state.preparations,
  refused: state.refused,
  aborting: state.aborting,
  locks: state.locks,
  outbox: state.outbox,
  prunable: state.prunable,
  queue: state.queue,
  rounds: state.rounds,
  collecting: state.collecting,
  probe: state.probe,
  readinessWaiters: state.readinessWaiters,
  verdict: state.verdict,
  turnedAway: state.turnedAway,
  entering: state.entering,
  forwarded: state.forwarded,
  pace: state.pace,
  writerHeardAt: state.writerHeardAt,
  awaited: state.awaited,
  denied: state.denied,
  modules: state.modules,
  timers: state.timers,
});

// What every registration changes in a record of the state is written out too: in a spread with a field of its own V8
// defines that field anew, in its runtime, and a dozen of these cost a registration one part in twenty-five.

/** The same preparation with other receipts. */
export const withReceipts = (preparation: Preparation, receipts: Preparation["receipts"]): Preparation => ({
  id: preparation.id,
  proposal: preparation.proposal,
  writerReceipt: preparation.writerReceipt,
  own: preparation.own,
  receipts,
  refusal: preparation.refusal,
  pledge: preparation.pledge,
  votes: preparation.votes,
  preparedAt: preparation.preparedAt,
  askedAt: preparation.askedAt,
});

/** The same delivery with other acknowledgements. */
export const withAcks = (delivery: Delivery, acks: Delivery["acks"]): Delivery => ({
  id: delivery.id,
  seq: delivery.seq,
  proposal: delivery.proposal,
  acks,
  dueAt: delivery.dueAt,
  isPrunable: delivery.isPrunable,
});

/** The same delivery, acknowledged by all. */
export const concluded = (delivery: Delivery): Delivery => ({
  id: delivery.id,
  seq: delivery.seq,
  proposal: delivery.proposal,
  acks: delivery.acks,
  dueAt: delivery.dueAt,
  isPrunable: true,
});

/** The same round with its certificate: the evidence has done its work, and its token leaves memory. */
export const certified = (round: Round, certificate: Certificate): Round => ({
  id: round.id,
  evidence: undefined,
  refusal: round.refusal,
  certificate,
  creator: round.creator,
  joiners: round.joiners,
});

/** The same request, taken up by the writer. */
export const takenUp = (awaited: Awaited): Awaited => ({
  forward: awaited.forward,
  actor: awaited.actor,
  serial: awaited.serial,
  request: awaited.request,
  acknowledged: true,
  isApplied: awaited.isApplied,
  denial: awaited.denial,
  storedAt: awaited.storedAt,
  arrivedAt: awaited.arrivedAt,
  forwardedAt: awaited.forwardedAt,
  sentAt: awaited.sentAt,
});

/** The row that advances with every transaction. */
export const countersRow = ({
  chain,
  audit,
  registry,
  highSeq,
  decidedSeq,
  quarantine,
}: PeerState): Rows["counters"] => ({
  incarnation: chain.incarnation,
  batchNo: chain.batchNo,
  batchHash: chain.hash,
  auditSeq: audit.seq,
  auditHash: audit.hash,
  keptNo: audit.keptNo,
  highSeq,
  decidedSeq,
  approvers: registry.approvers,
  registrySet: registry.set,
  quarantine,
});
