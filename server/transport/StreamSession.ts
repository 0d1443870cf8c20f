/** The session of one stream over its frames. */
import { Either } from "effect";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { decode } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import type { Codec } from "../../core/codec/Codec.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { kinds, MAC_BYTES, NO_EXCHANGE } from "../../runtime/transport/Frames.ts";
import {
  helloCodec,
  proofCodec,
  type Session,
  SESSION_VERSION,
  welcomeCodec,
} from "../../runtime/transport/Session.ts";
import type { FrameSocket } from "./FrameSocket.ts";

export class StreamSession {
  readonly #session: Session<Uint8Array>;
  readonly #frames: FrameSocket;

  constructor(session: Session<Uint8Array>, frames: FrameSocket) {
    this.#session = session;
    this.#frames = frames;
  }

  get member(): PeerId | undefined {
    return this.#session.member;
  }

  /** Asks for a session; false where this peer cannot have one now. */
  greet(to: PeerId): boolean {
    const hello = this.#session.hello(to);
    if (hello !== undefined) this.#say(kinds.hello, helloCodec, hello);
    return hello !== undefined;
  }

  /** Takes in a word of the handshake; a text says what is wrong with it. */
  shake(kind: number, body: Uint8Array): string | undefined {
    if (kind === kinds.hello) return this.#hello(body);
    if (kind === kinds.welcome) return this.#welcome(body);
    const proof = decode(proofCodec, body, SESSION_VERSION);
    return Either.isRight(proof) && this.#session.accept(proof.right) ? undefined : "a proof does not hold";
  }

  /** Says that there is to be no session now. */
  decline(): void {
    this.#frames.write({ kind: kinds.declined, exchange: NO_EXCHANGE, length: 0 });
  }

  /** Writes an envelope that the session vouches for. */
  write(kind: number, exchange: number, envelope: Uint8Array): void {
    const { mac } = this.#session.seal(exchange, envelope);
    this.#frames.write({ kind, exchange, length: MAC_BYTES + envelope.length }, hexToBytes(mac), envelope);
  }

  /** The envelope in a sealed body; undefined where it is not the next one of this session. */
  open(exchange: number, body: Uint8Array): Uint8Array | undefined {
    if (body.length < MAC_BYTES) return undefined;
    const mac = bytesToHex(body.subarray(0, MAC_BYTES)) as Digest;
    const content = body.subarray(MAC_BYTES);
    return this.#session.open(exchange, { content, mac }) ? content : undefined;
  }

  #hello(body: Uint8Array): string | undefined {
    const hello = decode(helloCodec, body, SESSION_VERSION);
    // A later version is no fault: this one only does not speak it.
    const welcome = Either.isRight(hello) ? this.#session.welcome(hello.right) : undefined;
    if (welcome === undefined) this.decline();
    else this.#say(kinds.welcome, welcomeCodec, welcome);
    return undefined;
  }

  #welcome(body: Uint8Array): string | undefined {
    const welcome = decode(welcomeCodec, body, SESSION_VERSION);
    const proof = Either.isRight(welcome) ? this.#session.prove(welcome.right) : undefined;
    if (proof === undefined) return "a welcome does not hold";
    this.#say(kinds.proof, proofCodec, proof);
    return undefined;
  }

  #say<A>(kind: number, codec: Codec<A>, word: A): void {
    const body = encode(codec, word);
    this.#frames.write({ kind, exchange: NO_EXCHANGE, length: body.length }, body);
  }
}
