/** A step of one peer of a cluster without a driver around it, for tests of the parts of steps. */
import { nobleKeyCrypto } from "../../runtime/threshold/NobleKeyCrypto.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Entropy } from "../../core/base/Digest.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { TimerName } from "../../core/protocol/Event.ts";
import { takeStep } from "../../core/Peer.ts";
import type { Message } from "../../core/Message.ts";
import type { StepResult } from "../../core/Action.ts";
import type { Rows, RowView, TableName, Write } from "../../core/Tables.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { StepContext } from "../../core/protocol/Event.ts";
import { Step } from "../../core/protocol/Step.ts";
import { MemoryByteStore } from "../../runtime/MemoryByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { ceremony, type Cluster, crypto, inUse, NOW, settingsOf } from "./Cluster.ts";

/** A step that knows the rows, messages and answers of every module, as tests look at them. */
export type WholeStep = {
  readonly context: { readonly view: RowView };
  readonly view: RowView;
  finish(advance: (step: Step) => void): StepResult;
  write(write: Write): void;
  put<T extends TableName>(table: T, key: string, row: Rows[T]): void;
} & Step;

/** A step upon that state; the core itself sees its steps so at its root (core/Peer.ts). */
export const wholeStep = (state: PeerState, context: StepContext): WholeStep =>
  new Step(state, context) as unknown as WholeStep;

/**
 * A step upon the state that a peer has now, signed with its key, and the rows on its disk.
 *
 * @param now Unix milliseconds
 * @param elapsed monotonic milliseconds
 */
export const openStep = (cluster: Cluster, peerId: PeerId, now = NOW, elapsed = 0): WholeStep => {
  const state = cluster.peers.get(peerId)?.state;
  const tables = cluster.tables.get(peerId);
  if (state === undefined || tables === undefined) throw new Error(`there is no peer ${peerId}`);
  const signer = cluster.keys.get(peerId);
  return wholeStep(state, {
    now,
    asBefore: [],
    elapsed,
    entropy: "00".repeat(32) as Entropy,
    crypto,
    signer,
    view: new SealedStore(new MemoryByteStore({ tables }), crypto),
    commands,
    providers: new Map(),
    ceremony,
    keyCrypto: nobleKeyCrypto,
    shareVault: signer && inUse(signer).shareVault,
    judgesTokens: true,
    isWhole: true,
    settings: settingsOf(peerId, cluster.total),
  });
};

/** The step of a peer that hears something in the state that a step has come to. */
export const heard = (
  { state, context }: Step,
  from: PeerId,
  message: Message,
  actors: ReadonlyArray<ActorCheck> = [],
): StepResult => takeStep(state, { _tag: "Deliver", from, message, actors }, context);

/** The step of a peer whose timer fires in the state that a step has come to. */
export const fires = ({ state, context }: Step, timer: TimerName): StepResult =>
  takeStep(state, { _tag: "TimerFired", timer }, context);
