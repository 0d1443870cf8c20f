/** The ways to all other peers of the configuration. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { type EndExchange, HeldAnswers } from "./HeldAnswers.ts";
import { type DropReason, PeerLink } from "./PeerLink.ts";

export class PeerLinks {
  readonly #held = new HeldAnswers();
  readonly #links: ReadonlyMap<PeerId, PeerLink>;

  constructor(
    peers: Config["cluster"]["peers"],
    tls: PeerClientTls,
    dropped: (peerId: PeerId, reason: DropReason) => void,
    received: (envelope: Uint8Array) => void,
  ) {
    this.#links = new Map(
      peers.map(({ id, url }) => [id, new PeerLink({ url, tls, received, dropped: (reason) => dropped(id, reason) })]),
    );
  }

  /** Hands an envelope to the network; a peer that is not configured gets nothing. */
  send(to: PeerId, envelope: Uint8Array): void {
    if (!this.#held.use(to, envelope)) this.#links.get(to)?.send(envelope);
  }

  /** Keeps a request of another peer open: the next message to that peer is its answer. */
  hold(from: PeerId, end: EndExchange): void {
    this.#held.hold(from, end);
  }

  /** Whether the last message to a peer got an answer; undefined when none was sent yet. */
  reachable(peerId: PeerId): boolean | undefined {
    return this.#links.get(peerId)?.reachable;
  }

  /** The certificates of connections from now on. */
  renew(tls: PeerClientTls): void {
    for (const link of this.#links.values()) link.renew(tls);
  }

  close(): void {
    this.#held.release();
    for (const link of this.#links.values()) link.close();
  }
}
