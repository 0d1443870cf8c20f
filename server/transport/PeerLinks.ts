/** The ways to all other peers of the configuration. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { type DropReason, PeerLink } from "./PeerLink.ts";

export class PeerLinks {
  readonly #links: ReadonlyMap<PeerId, PeerLink>;

  constructor(
    peers: Config["cluster"]["peers"],
    tls: PeerClientTls,
    dropped: (peerId: PeerId, reason: DropReason) => void,
  ) {
    this.#links = new Map(
      peers.map(({ id, url }) => [id, new PeerLink({ url, tls, dropped: (reason) => dropped(id, reason) })]),
    );
  }

  /** Hands an envelope to the network; a peer that is not configured gets nothing. */
  send(to: PeerId, envelope: Uint8Array): void {
    this.#links.get(to)?.send(envelope);
  }

  /** Whether the last message to a peer got an answer; undefined when none was sent yet. */
  reachable(peerId: PeerId): boolean | undefined {
    return this.#links.get(peerId)?.reachable;
  }

  close(): void {
    for (const link of this.#links.values()) link.close();
  }
}
