/** What a step asks the driver to do, and the answers it gives to callers. */
import type { TimerName } from "./Event.ts";
import type { Answer } from "./Answer.ts";
import type { Message } from "./Message.ts";
import type { PeerId } from "./Topology.ts";

/** A message to one member, or to every other member. */
export interface Send<M = Message> {
  readonly _tag: "Send";
  readonly to: PeerId;
  readonly message: M;
}

export interface Reply<A = Answer> {
  readonly _tag: "Reply";
  readonly requestId: string;
  readonly answer: A;
}

/** Arms a timer, replacing it if it runs already. */
export interface SetTimer {
  readonly _tag: "SetTimer";
  readonly timer: TimerName;
  readonly afterMillis: number;
}

export type Action = Send | Reply | SetTimer;
