/** Messages between the driver that sends one and the driver that gets it: who may speak in its place, packets, the wire. */
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { Network } from "../network/Network.ts";
import type { Origin } from "./Observer.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Packet } from "../network/Wire.ts";
import type { Ground } from "./Ground.ts";
import type { Handovers } from "./Handovers.ts";

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

interface Ports {
  readonly network: Network;
  readonly cryptography: Cryptography;
  readonly nonce: () => Digest;
  readonly handovers: Handovers;
  /** By slot. */
  readonly peer: (slot: number) => SimPeer;
}

export class Mail {
  /** The newest packets, oldest first. */
  readonly recent: Array<SentPacket> = [];
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #mouthpieces = new Map<number, Mouthpiece>();
  #alteration: Alteration | undefined;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
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
    const { network, cryptography, nonce } = this.#ports;
    const { state } = peer;
    const slot = peer.addresses.get(to);
    const packet = state && cryptography.wire.seal(state, signer, nonce, to, message, peer.composition);
    if (packet === undefined || slot === undefined) return;
    if (this.recent.length >= KEPT_PACKETS) this.recent.shift();
    this.recent.push({ from: peer, to: slot, packet, message });
    observer?.sent({ from: peer.slot, to: slot, packet, message, isAltered });
    const way = network.route(peer.slot, slot);
    const { marks } = this.#ground.chronicle;
    if (way === undefined)
      return marks.add(
        network.isCutOneWay(peer.slot, slot) ? "a member that was heard could not hear" : "a message was lost",
      );
    this.#transmit(slot, packet, way.takes, way.isTwice);
    if (way.copyTakes === undefined) return;
    marks.add("a message came a second time");
    this.#transmit(slot, packet, way.copyTakes, false);
  }

  /** Puts a packet on the wire; it arrives after `delay` microseconds. A fault that made it of an older one says so. */
  transmit(to: number, packet: Packet, delay: number, origin?: Origin): void {
    this.#transmit(to, packet, delay, false, origin);
  }

  #transmit(to: number, packet: Packet, delay: number, isTwice: boolean, origin?: Origin): void {
    const { scheduler, pauses, observer } = this.#ground;
    const copy = observer?.transmitted(to, packet, delay, origin);
    const peer = this.#ports.peer(to);
    scheduler.after(delay, () => {
      const waiting = pauses.waitingFor(peer);
      if (waiting === undefined) this.#arrive(peer, packet, isTwice, copy);
      else waiting.push(() => this.#arrive(peer, packet, isTwice, copy));
    });
  }

  #arrive(peer: SimPeer, packet: Packet, isTwice: boolean, copy: number | undefined): void {
    const { chronicle, observer } = this.#ground;
    const { cryptography, handovers } = this.#ports;
    const { state } = peer;
    if (state === undefined) return observer?.missed(copy);
    chronicle.events += 1;
    observer?.arriving(copy);
    const opened = cryptography.wire.open(cryptography.crypto, state, packet, peer.composition);
    if (typeof opened === "string") {
      chronicle.marks.add("envelope refused");
      return chronicle.note("refuse", peer.slot, opened);
    }
    const { from, message } = opened;
    if (message === undefined) return handovers.unread(peer, opened);
    chronicle.note("deliver from", peer.slot, message._tag, from);
    const mouthpiece = this.#mouthpieces.get(peer.slot);
    const heard = mouthpiece === undefined ? message : mouthpiece.hears(from, message);
    if (heard !== undefined) handovers.handOver(peer, opened, heard, isTwice);
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

  /** Every peer speaks for itself again. */
  heal(): void {
    this.#mouthpieces.clear();
  }

  /** The next message in which `alter` has something to change goes out changed; undefined calls that off. */
  alterNext(alter: Alteration | undefined): void {
    this.#alteration = alter;
  }
}
