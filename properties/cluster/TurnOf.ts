/** A turn of one peer of a cluster without a driver around it, for tests of what steps are made of. */
import { commands } from "../../core/commands/Commands.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { TimerName } from "../../core/protocol/Event.ts";
import { step } from "../../core/Peer.ts";
import type { Message } from "../../core/Message.ts";
import type { Step } from "../../core/Action.ts";
import type { Rows, RowView, TableName, Write } from "../../core/Tables.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { StepContext } from "../../core/protocol/Event.ts";
import { Turn } from "../../core/protocol/Turn.ts";
import { MemoryByteStore } from "../../runtime/MemoryByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { ceremony, type Cluster, crypto, NOW, settingsOf } from "./Cluster.ts";

/** A turn that knows the rows, messages and answers of every module, as tests look at them. */
export type WholeTurn = {
  readonly context: { readonly view: RowView };
  readonly view: RowView;
  finish(advance: (turn: Turn) => void): Step;
  write(write: Write): void;
  put<T extends TableName>(table: T, key: string, row: Rows[T]): void;
} & Turn;

/** A turn upon that state; the core itself sees its turns so at its root (core/Peer.ts). */
export const wholeTurn = (state: PeerState, context: StepContext): WholeTurn =>
  new Turn(state, context) as unknown as WholeTurn;

/**
 * A turn upon the state that a peer has now, signed with its key, and what lies on its disk.
 *
 * @param now Unix milliseconds
 * @param elapsed monotonic milliseconds
 */
export const turnOf = (cluster: Cluster, peerId: PeerId, now = NOW, elapsed = 0): WholeTurn => {
  const state = cluster.peers.get(peerId)?.state;
  const tables = cluster.tables.get(peerId);
  if (state === undefined || tables === undefined) throw new Error(`there is no peer ${peerId}`);
  return wholeTurn(state, {
    now,
    asBefore: [],
    elapsed,
    entropy: "00".repeat(32) as Digest,
    crypto,
    signer: cluster.keys.get(peerId),
    view: new SealedStore(new MemoryByteStore({ tables }), crypto),
    commands,
    providers: new Map(),
    ceremony,
    judgesTokens: true,
    settings: settingsOf(peerId, cluster.total),
  });
};

/** The step of a peer that hears something in the state that a turn has come to. */
export const heard = (
  { state, context }: Turn,
  from: PeerId,
  message: Message,
  actors: ReadonlyArray<ActorCheck> = [],
): Step => step(state, { _tag: "Deliver", from, message, actors }, context);

/** The step of a peer whose timer fires in the state that a turn has come to. */
export const fires = ({ state, context }: Turn, timer: TimerName): Step =>
  step(state, { _tag: "TimerFired", timer }, context);
