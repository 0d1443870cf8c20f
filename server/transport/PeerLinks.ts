/** The links to all other peers of the configuration. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { type EndExchange, HeldAnswers } from "./HeldAnswers.ts";
import type { MailboxRoom, Parcel } from "./MailboxRoom.ts";
import { type DropReason, type Outgoing, PeerLink } from "./PeerLink.ts";

export interface LinksOptions {
  readonly tls: PeerClientTls;
  readonly room: MailboxRoom;
  readonly dropped: (peerId: PeerId, reason: DropReason) => void;
  readonly received: (envelope: Uint8Array, parcel: Parcel) => void;
}

export class PeerLinks {
  readonly #held = new HeldAnswers();
  readonly #links: ReadonlyMap<PeerId, PeerLink>;

  constructor(peers: Config["cluster"]["peers"], { tls, room, dropped, received }: LinksOptions) {
    this.#links = new Map(
      peers.map(({ id, url }) => [
        id,
        new PeerLink({
          url,
          tls,
          received,
          parcel: () => room.parcel(id),
          dropped: (reason) => dropped(id, reason),
        }),
      ]),
    );
  }

  /** Hands an envelope to the network; a peer that is not configured gets nothing. */
  send(to: PeerId, message: Outgoing): void {
    if (!this.#held.use(to, message.envelope)) this.#links.get(to)?.send(message);
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
