/** The link to one other peer: its messages on a stream, or each as a request where it takes none. */
import { STRANGER_BYTES } from "../../runtime/EnvelopeCodec.ts";
import { Link, type LinkLimits, linkLimits } from "../../runtime/transport/Link.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { LinkTo } from "../../runtime/transport/Links.ts";
import type { Session } from "../../runtime/transport/Session.ts";
import { SILENCE_MILLIS } from "../../runtime/transport/StreamOpener.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { destinationOf, type Outgoing, type WayPorts } from "./Outgoing.ts";
import { Posts } from "./Posts.ts";
import { Stream } from "./Stream.ts";

export interface LinkOptions extends WayPorts {
  readonly peerId: PeerId;
  /** `scheme://host:port`. */
  readonly url: string;
  /** The opening end of a session, for one stream. */
  readonly session: () => Session<Uint8Array>;
  readonly tls: PeerClientTls;
  readonly limits?: LinkLimits;
  readonly timeoutMillis?: number;
}

export class PeerLink implements LinkTo<Outgoing> {
  readonly #link: Link<Outgoing>;
  readonly #posts: Posts;
  readonly #stream: Stream;

  constructor(options: LinkOptions) {
    const { url, dropped, limits = linkLimits, timeoutMillis = SILENCE_MILLIS } = options;
    const way = { ...options, to: destinationOf(url), timeoutMillis };
    this.#posts = new Posts(way, limits.connections);
    this.#stream = new Stream({ ...way, otherwise: (exchange) => this.#posts.transmit(exchange) });
    this.#link = new Link(
      {
        transmit: (exchange) => {
          // A large message is read with a warrant that comes before it.
          const isSmall = exchange.message.packet.length <= STRANGER_BYTES;
          (isSmall ? this.#stream : this.#posts).transmit(exchange);
        },
        dropped,
      },
      limits,
    );
  }

  /** Whether a session vouches for what is sent now. */
  get isInSession(): boolean {
    return this.#stream.isInSession;
  }

  get isReachable(): boolean | undefined {
    return this.#link.isReachable;
  }

  send(message: Outgoing): void {
    this.#link.send(message);
  }

  /** Connections from now on show and trust these certificates; one that is in use ends once it is idle. */
  renew(tls: PeerClientTls): void {
    this.#posts.renew(tls);
    this.#stream.renew(tls);
  }

  /** Drops the waiting messages and closes the connections. */
  close(): void {
    this.#link.close();
    this.#posts.close();
    this.#stream.close();
  }
}
