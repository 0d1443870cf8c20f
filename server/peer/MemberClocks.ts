/** The clocks of the other peers, as they last told them in their answers to probes. */
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

export class MemberClocks {
  readonly #now: () => number;
  readonly #ahead = new Map<PeerId, number>();

  /** @param now this machine's clock, in Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes note of a message whose envelope held. */
  saw(from: PeerId, message: Message): void {
    if (message._tag === "Ready") this.#ahead.set(from, message.clock - this.#now());
  }

  /** How far a peer's clock was ahead of this machine's, its message's way included, in milliseconds. */
  aheadMillis(peerId: PeerId): number | undefined {
    return this.#ahead.get(peerId);
  }
}
