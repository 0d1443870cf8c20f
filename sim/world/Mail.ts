/** Messages between the driver that sends one and the driver that gets it: who may speak in its place, packets, the wire. */
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { laneOf } from "../../core/protocol/Lane.ts";
import type { Opened, Unread } from "../../runtime/EnvelopeCodec.ts";
import type { Plan } from "../base/Plan.ts";
import type { Prng } from "../base/Prng.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { type Letter, letterOf } from "../network/Letter.ts";
import type { Network } from "../network/Network.ts";
import type { Origin } from "./Observer.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Packet } from "../network/Wire.ts";
import type { Ground } from "./Ground.ts";
import type { Heard } from "./Gateway.ts";
import { Gateways } from "./Gateways.ts";
import type { Handovers } from "./Handovers.ts";
import type { Tampering } from "./Tampering.ts";

/** Packets kept for faults that replay old ones. */
export const KEPT_PACKETS = 64;

/** A packet as it was sent, for the faults that replay or alter one. */
export interface SentPacket {
  readonly from: SimPeer;
  readonly to: number;
  readonly packet: Packet;
  readonly message: Message;
}

/** Stands between a peer's driver and the network: decides what leaves in place of a message, and what it hears. */
export interface Mouthpiece {
  readonly says: (to: PeerId, message: Message) => ReadonlyArray<Message>;
  /** Undefined: the driver hears nothing. */
  readonly hears: (from: PeerId, message: Message) => Message | undefined;
}

/** Changes a message; undefined where it has nothing in it to change. */
type Alteration = (message: Message) => Message | undefined;

/** The world that messages travel through. */
interface Surroundings {
  readonly plan: Plan;
  readonly network: Network;
  readonly cryptography: Cryptography;
  readonly entropy: Prng;
  /** By slot. */
  readonly peer: (slot: number) => SimPeer;
}

interface Ports {
  readonly world: Surroundings;
  readonly handovers: Handovers;
  readonly checkers: Checkers;
  readonly tampering: Tampering;
}

export class Mail {
  /** The newest packets, oldest first. */
  readonly recent: Array<SentPacket> = [];
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #gateways: Gateways;
  readonly #hasSessions: boolean;
  readonly #mouthpieces = new Map<number, Mouthpiece>();
  #alteration: Alteration | undefined;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#hasSessions = ports.world.plan.hasSessions === true;
    this.#gateways = new Gateways(ground, {
      ...ports,
      network: ports.world.network,
      narrow: ports.world.plan.narrow,
      hasSessions: this.#hasSessions,
      cryptography: ports.world.cryptography,
      entropy: ports.world.entropy,
      peer: (slot) => ports.world.peer(slot),
      open: (peer, letter, member) => this.#open(peer, letter, member),
      hear: (peer, opened, how) => this.#hear(peer, opened, how),
      unread: (peer, unread, { consumed }) => ports.handovers.unread(peer, unread, consumed),
    });
  }

  /** Sends what a peer's driver says, or what is said in its place. */
  send(peer: SimPeer, state: PeerState, to: PeerId, message: Message): void {
    const altered = this.#alteration?.(message);
    if (altered !== undefined) this.#alteration = undefined;
    const { chronicle } = this.#ground;
    chronicle.note("send to", peer.slot, message._tag, to);
    if (message._tag === "ReadyProbe") this.#ports.handovers.attendance.asked(peer, to, message.nonce);
    if (
      message._tag === "Commit" &&
      message.certificates.length > 0 &&
      state.cluster.membership?.writer !== state.cluster.peer?.peerId
    )
      chronicle.marks.add("a certificate delivered by another than the writer");
    const mouthpiece = this.#mouthpieces.get(peer.slot);
    if (mouthpiece === undefined) this.#post(peer, peer.signer, to, altered ?? message, altered !== undefined);
    else for (const said of mouthpiece.says(to, message)) this.utter(peer, to, said);
  }

  /** A peer says something under its own name that its driver did not ask for; no checker judges it. */
  utter(peer: SimPeer, to: PeerId, message: Message): void {
    this.#post(peer, message._tag === "Ready" ? peer.signer : peer.keys.identity, to, message, true);
  }

  #post(peer: SimPeer, signer: Signer | undefined, to: PeerId, message: Message, isAltered: boolean): void {
    const { observer } = this.#ground;
    const { cryptography, entropy } = this.#ports.world;
    const { state } = peer;
    const slot = peer.addresses.get(to);
    const packet =
      state && cryptography.wire.seal(state, signer, () => entropy.digest(), to, message, peer.composition);
    if (packet === undefined || slot === undefined) return;
    if (this.recent.length >= KEPT_PACKETS) this.recent.shift();
    this.recent.push({ from: peer, to: slot, packet, message });
    observer?.sent({ from: peer.slot, to: slot, packet, message, isAltered });
    const inSession = this.#hasSessions ? cryptography.wire.plain(packet, message) : packet;
    this.#gateways.send(peer, letterOf(packet, to, laneOf(message), inSession));
  }

  /** Puts a packet on the wire; it arrives after `delay` microseconds. A fault that made it of an older one says so. */
  transmit(to: number, packet: Packet, delay: number, origin: Origin): void {
    this.#gateways.inject(to, letterOf(packet, to, laneOf(origin.message)), delay, origin);
  }

  #open(peer: SimPeer, letter: Letter, member: PeerId | undefined): Opened | Unread | string {
    const { chronicle } = this.#ground;
    const { cryptography } = this.#ports.world;
    const { state } = peer;
    if (state === undefined) return "nobody is there";
    const packet = member === undefined ? letter.packet : letter.inSession;
    const opened = cryptography.wire.open(cryptography.crypto, state, packet, peer.composition, member);
    if (typeof opened === "string") {
      chronicle.marks.add("envelope refused");
      chronicle.note("refuse", peer.slot, opened);
    }
    return opened;
  }

  #hear(peer: SimPeer, opened: Opened, how: Heard): void {
    const { from, message } = opened;
    this.#ground.chronicle.note("deliver from", peer.slot, message._tag, from);
    const mouthpiece = this.#mouthpieces.get(peer.slot);
    const heard = mouthpiece === undefined ? message : mouthpiece.hears(from, message);
    if (heard === undefined) how.consumed();
    else this.#ports.handovers.handOver(peer, opened, heard, how);
  }

  /** A process has come up, and may speak and hear. */
  started(peer: SimPeer): void {
    this.#gateways.started(peer);
  }

  /** It has ended. */
  ended(peer: SimPeer): void {
    this.#gateways.ended(peer);
  }

  /** Whether something stands between a peer and the network. */
  isSpokenFor(peer: SimPeer): boolean {
    return this.#mouthpieces.has(peer.slot);
  }

  /** Puts something between a peer and the network; undefined takes it away. */
  speakThrough(peer: SimPeer, mouthpiece: Mouthpiece | undefined): void {
    if (mouthpiece === undefined) this.#mouthpieces.delete(peer.slot);
    else this.#mouthpieces.set(peer.slot, mouthpiece);
  }

  /** Whether messages get through, as far as every link knows. */
  get isOpen(): boolean {
    return this.#gateways.areOpen;
  }

  /** Every peer speaks for itself again. */
  heal(): void {
    this.#mouthpieces.clear();
  }

  /** The next message in which `alter` has something to change goes out changed; undefined calls that off. */
  alterNext(alter: Alteration | undefined): void {
    this.#alteration = alter;
  }
}
