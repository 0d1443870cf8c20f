/**
 * The streams between processes that run, in runs that have sessions: the sessions of both ends, and a network that
 * breaks a stream where it loses something, and gives copies of what it carried to every other end.
 */
import type { Codec } from "../../core/codec/Codec.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Sealed, Session, type Side } from "../../runtime/transport/Session.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { Prng } from "../base/Prng.ts";
import type { Letter } from "../network/Letter.ts";
import type { Network } from "../network/Network.ts";
import type { Packet } from "../network/Wire.ts";
import type { Asker } from "./Crossing.ts";
import { Framing, type MakeReader } from "./Framing.ts";
import type { Ground } from "./Ground.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";

/** Of each stream so many messages are kept by whoever listens on the network: counters begin anew with each. */
const KEPT = 4;
/** Streams of which something is kept. */
const KEPT_STREAMS = 8;

/** One end of a stream, and how many messages of the other it has taken. */
interface End {
  readonly peer: SimPeer;
  readonly session: Session<Packet>;
  taken: number;
}

/** A message in a session, as anybody on the network sees it. */
export interface Carried {
  readonly stream: SimStream;
  /** The end that it is for. */
  readonly at: End;
  readonly exchange: number;
  readonly sealed: Sealed<Packet>;
  /** Which message of its direction it is, from 1. */
  readonly place: number;
}

export class SimStream {
  readonly asker: Asker;
  readonly opener: End;
  readonly accepter: End;
  /** The process of the accepting peer that it leads to. */
  readonly process: number;
  isBroken = false;
  answers = 0;
  readonly #framing: Framing;
  /** Nothing overtakes what was sent before it: microseconds, by the end that it is for. */
  readonly #last = new Map<End, number>();

  constructor(
    asker: Asker,
    to: SimPeer,
    session: (side: Side, peer: SimPeer) => Session<Packet>,
    reader: MakeReader | undefined,
  ) {
    this.asker = asker;
    this.#framing = new Framing(reader);
    this.opener = { peer: asker.peer, session: session("opener", asker.peer), taken: 0 };
    this.accepter = { peer: to, session: session("accepter", to), taken: 0 };
    this.process = to.process;
  }

  get isOpen(): boolean {
    return (
      !this.isBroken && this.asker.isOpen && this.accepter.peer.isUp && this.accepter.peer.process === this.process
    );
  }

  /** A message leaves; the number of its exchange. */
  departs(letter: Letter): number {
    return this.#framing.departs(letter);
  }

  /** What was sealed comes to the end that it is for, for the first time or not. */
  comes({ at, exchange, sealed }: Carried, isAgain: boolean): void {
    const isAnswer = at === this.opener;
    if (!isAgain) this.#framing.comes(isAnswer, exchange, sealed);
    else if (isAnswer) this.#framing.comesAgain(exchange, sealed);
  }

  /** An exchange ends without an answer. */
  ends(exchange: number, isTaken: boolean): void {
    if (this.isOpen) this.#framing.ends(exchange, isTaken);
  }

  /** How long something takes that would take so long alone. */
  delay(to: End, now: number, takes: number): number {
    const at = Math.max(now + takes, this.#last.get(to) ?? 0);
    this.#last.set(to, at);
    return at - now;
  }
}

/** Packets never change, so that in a MAC a number stands for one. */
const numbered = (): Codec<Packet> => {
  const numbers = new WeakMap<Packet, number>();
  let last = 0;
  return {
    write: (packet, sink) => {
      const known = numbers.get(packet);
      if (known === undefined) numbers.set(packet, (last += 1));
      sink.uint(known ?? last);
    },
    read: () => {
      throw new RangeError("nothing is read from a MAC");
    },
  };
};

interface Ports {
  readonly network: Network;
  readonly cryptography: Cryptography;
  readonly entropy: Prng;
  readonly checkers: Checkers;
  readonly tampering: Tampering;
}

export class Streams {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #takenHooks;
  readonly #content = numbered();
  /** By the slots of both ends: the one in use. */
  readonly #streams = new Map<string, SimStream>();
  /** Streams that were open lately, with the first messages of each direction. */
  #kept: ReadonlyArray<readonly [SimStream, Array<Carried>]> = [];

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#takenHooks = ports.checkers.hooks("takenInSession");
  }

  /** The message as the stream to its receiver carries it; undefined while there is no session. */
  departing(asker: Asker, to: SimPeer, letter: Letter): Carried | undefined {
    const stream = this.#streamTo(asker, to);
    if (stream.opener.session.member === undefined) return undefined;
    const exchange = stream.departs(letter);
    return this.#carried(stream, stream.accepter, exchange, letter.packet, exchange);
  }

  /** The answer to such a message; undefined where the stream is over. */
  answering({ stream, exchange }: Carried, { packet }: Letter): Carried | undefined {
    if (!stream.isOpen || stream.accepter.session.member === undefined) return undefined;
    stream.answers += 1;
    return this.#carried(stream, stream.opener, exchange, packet, stream.answers);
  }

  /** The member that has sent what arrives at the end it is for; undefined where that end does not take it. */
  arrived(carried: Carried): PeerId | undefined {
    const { at, stream } = carried;
    const { member } = at.session;
    const isOpen = stream.isOpen && member !== undefined;
    if (isOpen) stream.comes(carried, false);
    if (isOpen && this.#offer(carried, at)) return member;
    stream.isBroken = true;
    return undefined;
  }

  /** Somebody who has heard a message gives it to every end there is. */
  copied(carried: Carried): void {
    // To the one it is for it is no copy before it has come.
    for (const { opener, accepter } of this.#streams.values())
      for (const end of [opener, accepter])
        if (end !== carried.at || carried.place <= end.taken) this.#offerCopy(carried, end);
  }

  #offerCopy(carried: Carried, end: End): void {
    if (end.session.member === undefined) return;
    if (end === carried.at) carried.stream.comes(carried, true);
    if (!this.#offer(carried, end)) this.#ground.chronicle.marks.add("a copied message was no message of a session");
  }

  #offer({ at, exchange, sealed, place }: Carried, end: End): boolean {
    if (!end.session.open(exchange, sealed)) return false;
    end.taken += 1;
    for (const hook of this.#takenHooks) hook(end.peer, end === at, place, end.taken);
    return true;
  }

  #carried(stream: SimStream, at: End, exchange: number, packet: Packet, place: number): Carried {
    const from = at === stream.opener ? stream.accepter : stream.opener;
    const carried = { stream, at, exchange, sealed: from.session.seal(exchange, packet), place };
    if (place <= KEPT) this.#kept.find(([each]) => each === stream)?.[1].push(carried);
    return carried;
  }

  #streamTo(asker: Asker, to: SimPeer): SimStream {
    const name = `${asker.peer.slot} ${to.slot}`;
    const known = this.#streams.get(name);
    if (known?.isOpen === true && known.asker === asker) return known;
    const { chronicle } = this.#ground;
    if (known !== undefined) chronicle.marks.add("a stream was opened again");
    const made = new SimStream(asker, to, (side, peer) => this.#session(side, peer), this.#ports.tampering.frames);
    this.#streams.set(name, made);
    this.#shake(made);
    return made;
  }

  #session(side: Side, peer: SimPeer): Session<Packet> {
    const { cryptography, entropy, tampering } = this.#ports;
    const ports = {
      crypto: cryptography.crypto,
      state: () => {
        if (peer.state === undefined) throw new RangeError("no process runs");
        return peer.state;
      },
      signer: () => (peer.isUp ? peer.signer : undefined),
      entropy: () => entropy.entropy(),
      content: this.#content,
    };
    return tampering.session?.(side, ports) ?? new Session(side, ports);
  }

  #shake(stream: SimStream): void {
    const { opener, accepter } = stream;
    const hello = opener.session.hello(accepter.peer.peerId);
    if (hello === undefined) return;
    this.#travel(stream, accepter, () => {
      const welcome = accepter.session.welcome(hello);
      if (welcome === undefined) return;
      this.#travel(stream, opener, () => {
        const proof = opener.session.prove(welcome);
        if (proof === undefined) return void (stream.isBroken = true);
        this.#travel(stream, accepter, () => {
          if (accepter.session.accept(proof)) this.#accepted(stream);
          else stream.isBroken = true;
        });
      });
    });
  }

  #accepted(stream: SimStream): void {
    this.#ground.chronicle.marks.add("a session was opened");
    for (const [, messages] of this.#kept)
      for (const message of messages) for (const end of [stream.accepter, stream.opener]) this.#offerCopy(message, end);
    this.#kept = [...this.#kept.slice(1 - KEPT_STREAMS), [stream, []]];
  }

  /** A word of a handshake travels. */
  #travel(stream: SimStream, to: End, run: () => void): void {
    const { scheduler } = this.#ground;
    const from = to === stream.opener ? stream.accepter : stream.opener;
    const way = this.#ports.network.route(from.peer.slot, to.peer.slot);
    if (way === undefined) return void (stream.isBroken = true);
    scheduler.after(stream.delay(to, scheduler.now, way.takes), () => {
      if (stream.isOpen && to.peer.state !== undefined) run();
    });
  }
}
