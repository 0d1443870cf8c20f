/** The envelopes of one peer: those it opens, and those it seals with the key that is in use. */
import type { Either } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import { bytes as bytesCodec } from "../../core/codec/Codec.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { Message } from "../../core/Message.ts";
import { laneOf } from "../../core/protocol/Lane.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import {
  type Opened,
  openEnvelope,
  plainEnvelope,
  type Scrutiny,
  sealEnvelope,
  STRANGER_BYTES,
  type Unread,
} from "../../runtime/EnvelopeCodec.ts";
import { mayAnswer } from "../../runtime/transport/HeldAnswers.ts";
import { Session, type Side } from "../../runtime/transport/Session.ts";
import { openWarrant, sealWarrant, type Warrant } from "../../runtime/Warrant.ts";
import { AheadSealed } from "./AheadSealed.ts";
import { entropy, nonce } from "./Entropy.ts";
import { HeardOnce } from "./HeardOnce.ts";
import type { PeerPorts } from "./PeerPorts.ts";

interface EnvelopePorts extends Pick<PeerPorts, "backend" | "metrics" | "send" | "isInSession" | "settings"> {
  readonly state: () => PeerState;
  /** The key in use; undefined while this peer is sealed. */
  readonly signer: () => Signer | undefined;
}

/** What a session vouches for: envelopes. */
const content = bytesCodec(Limits.envelopeBytes + 1024);

export class Envelopes {
  readonly #ports: EnvelopePorts;
  readonly #ahead = new AheadSealed();
  readonly #heard = new HeardOnce();

  constructor(ports: EnvelopePorts) {
    this.#ports = ports;
  }

  /** Opens an envelope from the network, of this member where a session says so; Left says what is wrong with it. */
  open(
    bytes: Uint8Array,
    member: PeerId | undefined,
    scrutiny: Scrutiny | undefined,
  ): Either.Either<Opened | Unread, string> {
    const { backend, state, settings } = this.#ports;
    const named = settings.joins?.identityKey;
    const opening = scrutiny && { ...scrutiny, named, isFirst: this.#heard.isFirst };
    return openEnvelope(backend.crypto, state(), bytes, commands, member, opening);
  }

  /** One end of a session of this peer. */
  session(side: Side): Session<Uint8Array> {
    const { state, signer, backend } = this.#ports;
    return new Session(side, { crypto: backend.crypto, state, signer, entropy, content });
  }

  /** The content of a large message's warrant; undefined unless a member gave it to this peer. */
  warranted(bytes: Uint8Array): Warrant | undefined {
    return openWarrant(this.#ports.backend.crypto, this.#ports.state(), bytes);
  }

  /** With a pinned topology an envelope depends on nothing that the step under way could still change. */
  sealAhead(to: PeerId, message: Message): void {
    const [state, signer] = [this.#ports.state(), this.#ports.signer()];
    if (signer === undefined || state.cluster.membership === undefined) return;
    const made = this.#make(state, signer, to, message);
    if (made !== undefined) this.#ahead.keep(to, message, { signer, ...made });
  }

  send(to: PeerId, message: Message): void {
    const [state, signer] = [this.#ports.state(), this.#ports.signer()];
    const made = this.#ahead.take(to, message, signer) ?? this.#make(state, signer, to, message);
    if (made === undefined) return;
    const { envelope, isSigned } = made;
    this.#ports.metrics.count("custody_messages_sent_total", message._tag);
    const { length } = envelope;
    const warrant =
      length <= STRANGER_BYTES || signer === undefined
        ? undefined
        : sealWarrant(state, signer, nonce(), { to, length });
    const signed = isSigned ? undefined : () => this.#sign(to, message);
    const isAnswer = mayAnswer(message);
    this.#ports.send(to, { packet: envelope, bytes: length, lane: laneOf(message), isAnswer, warrant, signed });
  }

  /** Without a signature where a session vouches for it. */
  #make(
    state: PeerState,
    signer: Signer | undefined,
    to: PeerId,
    message: Message,
  ): { readonly envelope: Uint8Array; readonly isSigned: boolean } | undefined {
    if (signer !== undefined && this.#ports.isInSession(to) && !message._tag.startsWith("Genesis")) {
      const envelope = plainEnvelope(state, to, message);
      // A larger one has a warrant, and is signed like that.
      if (envelope !== undefined && envelope.length <= STRANGER_BYTES) return { envelope, isSigned: false };
    }
    const envelope = sealEnvelope(state, signer, nonce(), to, message);
    return envelope && { envelope, isSigned: true };
  }

  /** Its session is over: signed as of now. */
  #sign(to: PeerId, message: Message): Uint8Array | undefined {
    return sealEnvelope(this.#ports.state(), this.#ports.signer(), nonce(), to, message);
  }
}
