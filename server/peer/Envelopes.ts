/** The envelopes of one peer: those it opens, and those it seals with the key that is in use. */
import type { Either } from "effect";
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { Message } from "../../core/Message.ts";
import { laneOf } from "../../core/protocol/Lane.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Opened, openEnvelope, sealEnvelope, STRANGER_BYTES, type Unread } from "../../runtime/EnvelopeCodec.ts";
import { openWarrant, sealWarrant, type Warrant } from "../../runtime/Warrant.ts";
import { AheadSealed } from "./AheadSealed.ts";
import { entropy } from "./Entropy.ts";
import type { PeerPorts } from "./PeerPorts.ts";

interface EnvelopePorts extends Pick<PeerPorts, "backend" | "metrics" | "send"> {
  readonly state: () => PeerState;
  /** The key in use; undefined while this peer is sealed. */
  readonly signer: () => Signer | undefined;
}

export class Envelopes {
  readonly #ports: EnvelopePorts;
  readonly #ahead = new AheadSealed();

  constructor(ports: EnvelopePorts) {
    this.#ports = ports;
  }

  /** Opens an envelope from the network; Left says what is wrong with it. */
  open(bytes: Uint8Array): Either.Either<Opened | Unread, string> {
    return openEnvelope(this.#ports.backend.crypto, this.#ports.state(), bytes);
  }

  /** The content of a large message's warrant; undefined unless a member gave it to this peer. */
  warranted(bytes: Uint8Array): Warrant | undefined {
    return openWarrant(this.#ports.backend.crypto, this.#ports.state(), bytes);
  }

  /** With a pinned topology an envelope depends on nothing that the step under way could still change. */
  sealAhead(to: PeerId, message: Message): void {
    const [state, signer] = [this.#ports.state(), this.#ports.signer()];
    if (signer === undefined || state.cluster.membership === undefined) return;
    const envelope = sealEnvelope(state, signer, entropy(), to, message);
    if (envelope !== undefined) this.#ahead.keep(to, message, { signer, envelope });
  }

  send(to: PeerId, message: Message): void {
    const [state, signer] = [this.#ports.state(), this.#ports.signer()];
    const envelope = this.#ahead.take(to, message, signer) ?? sealEnvelope(state, signer, entropy(), to, message);
    if (envelope === undefined) return;
    this.#ports.metrics.count("custody_messages_sent_total", message._tag);
    const { length } = envelope;
    const warrant =
      length <= STRANGER_BYTES || signer === undefined
        ? undefined
        : sealWarrant(state, signer, entropy(), { to, length });
    this.#ports.send(to, { packet: envelope, bytes: length, lane: laneOf(message), warrant });
  }
}
