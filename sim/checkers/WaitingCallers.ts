/**
 * Whose requests a writer has taken and not answered. One in its queue becomes a round or joins one, one that joined
 * queues again where that is refused, and whoever waits no longer is told something. (Who made a round is told by what
 * its own peer applies, too.)
 */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

/** How far an answer may lag behind the step that gave it, or be ahead of the one that shows it. */
const LAG_MICROS = 3_000_000;

const nameOf = ({ entryPeer, requestId }: { readonly entryPeer: PeerId; readonly requestId: string }): string =>
  `request ${requestId} of peer ${entryPeer}`;

interface Held {
  /** Those that are only to be told, or to come back into the queue. */
  readonly waiting: ReadonlySet<string>;
  /** Those that made a round that is under way. */
  readonly making: ReadonlySet<string>;
}

const heldIn = ({ requests, undecided }: PeerState): Held => {
  const waiting = new Set(requests.queue.map(({ forward }) => nameOf(forward)));
  const making = new Set<string>();
  for (const { creator, coalesced } of undecided.rounds.values()) {
    if (creator !== undefined) making.add(nameOf(creator));
    for (const { forward } of coalesced) waiting.add(nameOf(forward));
  }
  return { waiting, making };
};

/** At one process. */
export class WaitingCallers {
  #queue: PeerState["requests"]["queue"] | undefined;
  #rounds: PeerState["undecided"]["rounds"] | undefined;
  #held: Held = { waiting: new Set(), making: new Set() };
  /** When they were answered last. */
  readonly #answered = new Map<string, number>();
  /** When they were gone, not answered. */
  readonly #gone = new Map<string, number>();

  answered(entryPeer: PeerId, requestId: string, at: number): void {
    const name = nameOf({ entryPeer, requestId });
    this.#gone.delete(name);
    this.#answered.delete(name);
    this.#answered.set(name, at);
    for (const [oldest, before] of this.#answered) {
      if (before >= at - LAG_MICROS) return;
      this.#answered.delete(oldest);
    }
  }

  /** Where the peer can do nothing for them any more, it need not hold them. */
  forget(): void {
    this.#held = { waiting: new Set(), making: new Set() };
    this.#queue = undefined;
    this.#gone.clear();
  }

  /** One that is gone, and has not been answered in time; undefined where there is none. */
  lost(state: PeerState, at: number): string | undefined {
    const { queue } = state.requests;
    const { rounds } = state.undecided;
    if (this.#queue !== queue || this.#rounds !== rounds) {
      const before = this.#held;
      this.#held = heldIn(state);
      this.#queue = queue;
      this.#rounds = rounds;
      for (const name of before.waiting) {
        const isHeld = this.#held.waiting.has(name) || this.#held.making.has(name);
        if (!isHeld && (this.#answered.get(name) ?? Number.NEGATIVE_INFINITY) < at - LAG_MICROS)
          this.#gone.set(name, at);
      }
    }
    for (const [name, since] of this.#gone) if (at - since > LAG_MICROS) return name;
    return undefined;
  }
}
