/**
 * What a peer keeps in memory: the protocol's open business and small counters.
 * Records stay in the store. Everything here can be rebuilt from the store
 * (Boot.ts), except callers, evidence and other members' votes, which a crash forgets.
 * Each slice has its type and its empty value in a file of its own.
 */
import type { Crypto } from "../crypto/Crypto.ts";
import type { SetAccumulator } from "../base/Digest.ts";
import { type ClusterState, noCluster } from "./ClusterState.ts";
import type { TimerName } from "./Event.ts";
import { notProbing, type Probing } from "./ProbeState.ts";
import { notRejoining, type Rejoining } from "./RecoveryState.ts";
import { noRequests, type Requests } from "./Requests.ts";
import { nothingSigned, type SignedState } from "./SignedState.ts";
import { sealedFitness, type Fitness } from "./Fitness.ts";
import type { Rows } from "./Tables.ts";

import { nothingUndecided, type Undecided } from "./Undecided.ts";

/** The slices of agreement itself. */
export interface Slices {
  readonly cluster: ClusterState;
  readonly fitness: Fitness;
  readonly rejoining: Rejoining;
  readonly signed: SignedState;
  readonly registry: { readonly set: SetAccumulator; readonly approvers: number };
  readonly undecided: Undecided;
  readonly probing: Probing;
  readonly requests: Requests;
}

export interface PeerState extends Slices {
  /** The state of modules, by their names (Module.ts). */
  readonly modules: { readonly [name: string]: object };
  /** When each armed timer is due, in monotonic milliseconds. */
  readonly timers: ReadonlyMap<TimerName, number>;
}

/** The state while a step edits its own copy of it. */
export type StateDraft = { -readonly [K in keyof PeerState]: PeerState[K] };

/** The slices of a peer that remembers nothing. */
export const emptySlices = (): Omit<Slices, "registry"> => ({
  cluster: noCluster(),
  fitness: sealedFitness(),
  rejoining: notRejoining(),
  signed: nothingSigned(),
  undecided: nothingUndecided(),
  probing: notProbing(),
  requests: noRequests(),
});

export const emptyState = ({ emptySet }: Pick<Crypto, "emptySet">): PeerState => ({
  ...emptySlices(),
  registry: { set: emptySet, approvers: 0 },
  modules: {},
  timers: new Map(),
});

/** The row that advances with every transaction. */
export const countersRow = ({ signed, registry, undecided, fitness }: PeerState): Rows["counters"] => ({
  incarnation: signed.chain.incarnation,
  batchNo: signed.chain.batchNo,
  batchHash: signed.chain.hash,
  auditSeq: signed.audit.seq,
  auditHash: signed.audit.hash,
  keptNo: signed.audit.keptNo,
  highSeq: undecided.highSeq,
  decidedSeq: undecided.decidedSeq,
  approvers: registry.approvers,
  registrySet: registry.set,
  quarantine: fitness.quarantine,
});
