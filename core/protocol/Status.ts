/** What operators are told about a peer: plain data, computed from its published state alone. */
import type { Digest, PublicKey } from "../base/Digest.ts";
import type { PeerState } from "./PeerState.ts";
import { modeOf } from "./Mode.ts";
import { type PromotionStatus, promotionStatus } from "./PromotionStatus.ts";
import type { PeerId } from "./Topology.ts";
import type { MemberFault } from "../base/Rejection.ts";

export type SealState = "UNINITIALIZED" | "SEALED" | "UNSEALED";

/** How far the founding has come; once a topology is pinned, present only while a peer is at fault. */
export interface FoundingStatus {
  /** Peers whose card is here and fits, this one included. */
  readonly introduced: ReadonlyArray<PeerId>;
  /** Peers whose signature under this peer's topology is here; empty until this peer has signed. */
  readonly signed: ReadonlyArray<PeerId>;
  /** Peers that do not fit, and why. */
  readonly faults: ReadonlyArray<MemberFault>;
}

export interface TopologyStatus {
  readonly clusterId: Digest;
  readonly epoch: number;
  readonly digest: Digest;
  /** Ascending. */
  readonly members: ReadonlyArray<PeerId>;
  readonly writer: PeerId;
  readonly development: boolean;
}

export interface StatusDetail {
  readonly peerId: PeerId;
  readonly threshold: number;
  readonly total: number;
  /** By which other peers know it. */
  readonly identityKey: PublicKey;
  readonly incarnation: number;
  readonly topology: TopologyStatus | undefined;
  readonly founding: FoundingStatus | undefined;
  readonly promotion: PromotionStatus | undefined;
  readonly approvers: number;
  /** Prepared here, undecided (contract 8 allows 256). */
  readonly uncommitted: number;
  readonly locks: number;
  /** Applied here, and not known to be applied by all. */
  readonly outbox: number;
  /** Requests waiting here for their turn (writer) or for the writer's answer. */
  readonly waiting: number;
  /** The highest slot bound here and the highest one decided; 0 before the first. */
  readonly highestSlot: number;
  readonly lastDecidedSlot: number;
  /**
   * Which of its integrity keys this peer seals rows with, from 1. Undefined while rows do not hold: the number is
   * itself read from rows, and nothing is sealed then.
   */
  readonly integrityKeyVersion: number | undefined;
  /** Why this peer signs nothing, if so: a row that does not hold, or an old disk. */
  readonly integrityFault: string | undefined;
  readonly quarantine: string | undefined;
  /** What a restored peer waits for before it takes part again. */
  readonly recovering: string | undefined;
}

/** A peer is unsealed once its keys are in memory, even while they are not used until its rows are verified. */
export const sealState = (state: Parameters<typeof modeOf>[0]): SealState => {
  const mode = modeOf(state);
  return mode === "blank" ? "UNINITIALIZED" : mode === "sealed" ? "SEALED" : "UNSEALED";
};

const ascending = (peerIds: Iterable<PeerId>): ReadonlyArray<PeerId> =>
  [...peerIds].toSorted((left, right) => left - right);

const foundingOf = ({ cluster: { founding } }: PeerState): FoundingStatus => ({
  introduced: ascending(founding.cards.keys()),
  signed: ascending(founding.signatures.keys()),
  faults: ascending(founding.faults.keys()).map((peerId) => ({ peerId, reason: founding.faults.get(peerId) ?? "" })),
});

/**
 * The detail of an initialized peer; undefined before. Genesis faults noticed after the founding (a stranger, a wiped
 * peer) stay visible for the lifetime of the process.
 */
export const statusDetail = (state: PeerState): StatusDetail | undefined => {
  const {
    cluster: { peer, membership },
  } = state;
  if (peer === undefined) return undefined;
  return {
    peerId: peer.peerId,
    threshold: peer.threshold,
    total: peer.total,
    identityKey: peer.identityKey,
    incarnation: state.signed.chain.incarnation,
    topology: membership && {
      clusterId: membership.topology.clusterId,
      epoch: membership.topology.epoch,
      digest: membership.digest,
      members: membership.peerIds,
      writer: membership.writer,
      development: membership.topology.development,
    },
    founding: membership === undefined || state.cluster.founding.faults.size > 0 ? foundingOf(state) : undefined,
    promotion: promotionStatus(state),
    approvers: state.registry.approvers,
    uncommitted: state.undecided.preparations.size,
    locks: state.undecided.locks.size,
    outbox: state.undecided.outbox.size,
    waiting: state.requests.queue.length + state.requests.entering.length + state.requests.awaited.size,
    highestSlot: state.undecided.highSeq,
    lastDecidedSlot: state.undecided.decidedSeq,
    integrityKeyVersion: state.fitness.integrityFault === undefined ? state.fitness.integrityVersion : undefined,
    integrityFault: state.fitness.integrityFault,
    quarantine: state.fitness.quarantine,
    recovering: state.rejoining.recovery?.waitsFor,
  };
};
