/**
 * An observer is told of everything, asked nothing, and in the way of nothing. A run is the same with and without
 * one, and pays nothing without.
 */
import type { Answer } from "../../core/Action.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { Message } from "../../core/Message.ts";
import type { Write } from "../../core/Tables.ts";
import type { Watched } from "../checkers/Checker.ts";
import type { Product } from "../models/Product.ts";
import type { Network } from "../network/Network.ts";
import type { Plan } from "../base/Plan.ts";
import type { Packet } from "../network/Wire.ts";

export interface ObservedPeer extends Watched {
  readonly clock: { readonly offsetMillis: number };
  /** What kind of traitor it is. */
  readonly treason: string | undefined;
}

/** What may be looked at in a world, at any time. */
export interface Observed {
  readonly plan: Plan;
  /** Microseconds of virtual time. */
  readonly now: number;
  /** Delivered messages, fired timers, finished flushes, crashes and starts so far. */
  readonly events: number;
  readonly healed: boolean;
  readonly network: Network;
  readonly peers: ReadonlyArray<ObservedPeer>;
  readonly tokenKeys: { readonly unavailable: ReadonlySet<number>; readonly gone: ReadonlyMap<number, number> };
  readonly cryptography: { readonly crypto: Crypto };
  readonly product: Product;
}

/** A message as it leaves a peer, before the network decides about it. */
export interface Sending {
  readonly from: number;
  readonly to: number;
  readonly packet: Packet;
  /** What is in the packet: another message than the peer's own where a fault changed it. */
  readonly message: Message;
  readonly isAltered: boolean;
}

/** Where a packet that no peer has just sent comes from: a fault made it of an older one. */
export interface Origin {
  readonly from: number;
  readonly message: Message;
  readonly how: "replayed" | "forged" | "altered";
}

/** What a caller did that is no line of the trace. */
export type CallerAct = "read" | "readiness" | "unreachable";

export interface Observer {
  /** Before anything happens. */
  readonly began: (world: Observed) => void;
  /** A line of the trace. */
  readonly noted: (what: string, slot: number, detail: string, other: number) => void;
  readonly sent: (sending: Sending) => void;
  /** A copy of a packet is under way and will arrive after `delay` microseconds; returns the copy's number. */
  readonly transmitted: (to: number, packet: Packet, delay: number, origin: Origin | undefined) => number;
  /** A copy is about to be opened by a process. */
  readonly arriving: (copy: number | undefined) => void;
  /** A copy arrived where no process runs. */
  readonly missed: (copy: number | undefined) => void;
  readonly asked: (slot: number, requestId: string, call: Call, actor: ActorCheck) => void;
  readonly replied: (slot: number, requestId: string, answer: Answer) => void;
  /** No caller waits for the answer to a request any more. */
  readonly forgot: (requestId: string) => void;
  readonly acted: (act: CallerAct, slot: number, about: string, isFound: boolean) => void;
  /** A flush of these row changes is under way. */
  readonly flushing: (peer: Watched, writes: ReadonlyArray<Write>) => void;
  /** The published state of a peer has changed. */
  readonly stepped: (peer: Watched) => void;
  /** A fault was injected, or a situation reached. */
  readonly counted: (kind: "fault" | "mark", name: string) => void;
  /** Nothing is done to the world from here on. */
  readonly healed: () => void;
  /** All that was due at one moment has happened. */
  readonly ticked: () => void;
}
