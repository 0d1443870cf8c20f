/** The way to all other peers: as the answer to what one of them asked, or on the link to it. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { HeldAnswers, OpenExchange } from "./HeldAnswers.ts";

/** A link, and whatever carries its messages. */
export interface LinkTo<M> {
  readonly isReachable: boolean | undefined;
  readonly send: (message: M) => void;
  readonly close: () => void;
}

export class Links<M, L extends LinkTo<M> = LinkTo<M>> {
  readonly #held: HeldAnswers<M>;
  readonly #links: ReadonlyMap<PeerId, L>;
  readonly #mayAnswer: (message: M) => boolean;

  /** @param mayAnswer whether a message may go as an answer; the others always go on their link */
  constructor(held: HeldAnswers<M>, links: ReadonlyMap<PeerId, L>, mayAnswer: (message: M) => boolean = () => true) {
    this.#held = held;
    this.#links = links;
    this.#mayAnswer = mayAnswer;
  }

  /** The links by themselves. */
  get all(): Iterable<L> {
    return this.#links.values();
  }

  /** Hands a message to the network; a peer that is not configured gets nothing. */
  send(to: PeerId, message: M): void {
    if (!this.#mayAnswer(message) || !this.#held.use(to, message)) this.#links.get(to)?.send(message);
  }

  /** Keeps a request of another peer open: the next message to that peer is its answer. */
  hold(from: PeerId, exchange: OpenExchange<M>): void {
    this.#held.hold(from, exchange);
  }

  /** Whether the last message to a peer got an answer; undefined when none was sent yet. */
  isReachable(peerId: PeerId): boolean | undefined {
    return this.#links.get(peerId)?.isReachable;
  }

  /** The link to a peer; undefined for one that is not configured. */
  to(peerId: PeerId): L | undefined {
    return this.#links.get(peerId);
  }

  close(): void {
    this.#held.release();
    for (const link of this.#links.values()) link.close();
  }
}
