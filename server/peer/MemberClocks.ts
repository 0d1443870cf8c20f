/** The clocks of the other peers, as they last told them in their answers to probes. */
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

export class MemberClocks {
  readonly #members: ReadonlySet<PeerId>;
  readonly #now: () => number;
  readonly #ahead = new Map<PeerId, number>();

  /**
   * @param members the other peers of the configuration: whoever tells a clock under another name is not listened to
   * @param now this machine's clock, in Unix milliseconds
   */
  constructor(members: Iterable<PeerId>, now: () => number) {
    this.#members = new Set(members);
    this.#now = now;
  }

  /** Takes note of a message whose envelope held. */
  saw(from: PeerId, message: Message): void {
    if (message._tag === "Ready" && this.#members.has(from)) this.#ahead.set(from, message.clock - this.#now());
  }

  /** How far a peer's clock was ahead of this machine's, its message's way included, in milliseconds. */
  aheadMillis(peerId: PeerId): number | undefined {
    return this.#ahead.get(peerId);
  }
}
