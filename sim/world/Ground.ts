/** What the parts of a world are built on. */
import type { Observer } from "./Observer.ts";
import type { Scheduler } from "./Scheduler.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Chronicle } from "./Chronicle.ts";
import type { Pauses } from "./Pauses.ts";

export interface Ground {
  readonly scheduler: Scheduler;
  readonly chronicle: Chronicle;
  readonly pauses: Pauses;
  readonly observer: Observer | undefined;
  /** To be called after whatever has happened to a peer. */
  readonly settle: (peer: SimPeer) => void;
}
