/** The clocks of the other peers, as they last told them in their answers to probes. */
import type { Opened } from "../../runtime/EnvelopeCodec.ts";
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

  /** Takes note of a message that its sender vouches for: what a sealed peer says, a stranger may have said. */
  saw({ from, versions, message }: Opened): void {
    if (message._tag !== "Ready" || versions === undefined || !this.#members.has(from)) return;
    this.#ahead.set(from, message.clock - this.#now());
  }

  /** How far a peer's clock was ahead of this machine's, its message's way included, in milliseconds. */
  aheadMillis(peerId: PeerId): number | undefined {
    return this.#ahead.get(peerId);
  }
}
