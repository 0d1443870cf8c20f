/**
 * What a peer keeps in memory: the protocol's open business and small counters.
 * Records stay in the store. Everything here can be rebuilt from the store
 * (Boot.ts), except what waits for a caller or an answer, which a crash forgets.
 */
import type { Preparation, Refused, Aborting, Delivery, Round } from "./Undecided.ts";
import type { Queued, TurnedAway, Entering, Awaited } from "./Requests.ts";
import type { Probe, Verdict } from "./ProbeState.ts";
import type { Recovery } from "./RecoveryState.ts";
import type { Digest, SetAccumulator, Signature } from "../base/Digest.ts";
import type { TimerName } from "./Event.ts";
import type { Pace } from "./Admission.ts";
import type { GenesisCard } from "./GenesisCard.ts";
import type { Seen } from "./Message.ts";
import type { Moment } from "./Moment.ts";
import type { SignedRestoration } from "./Restoration.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Membership, PeerId } from "./Topology.ts";
import type { Rows } from "./Tables.ts";
import type { Versions } from "./Versions.ts";

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
  /** What each other peer has said that it speaks, since this process began. */
  readonly spoken: ReadonlyMap<PeerId, Versions>;

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
  spoken: state.spoken,
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
