/** Operators, each of one peer: they initialize it, bring its keys back after a start, seal it and change its keys. */
import type { Answer } from "../../core/Action.ts";
import type { PeerState } from "../../core/PeerState.ts";
import type { Stretch } from "../Choices.ts";
import type { SimPeer } from "../SimPeer.ts";
import type { Ground } from "./Ground.ts";
import type { Processes } from "./Processes.ts";
import type { RequestIds } from "./RequestIds.ts";

/** How long a started peer stays sealed: mostly not long. */
const SEALED_MICROS: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [500, 5_000],
  [500, 50_000],
  [500, 100_000],
  [500, 2_000_000],
];
const SEALED_HEALED_MICROS: readonly [Stretch] = [[500, 5_000]];
const LONGEST_SEALED_MICROS = 2_000_000;
const USUAL_SEALED_MICROS = 1_000;

interface Ports {
  readonly processes: Processes;
  readonly requestIds: RequestIds;
  /** How many peers there are. */
  readonly peers: number;
}

export class Operators {
  readonly #ground: Ground;
  readonly #ports: Ports;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
  }

  /** A process has come up, and needs a vault or the keys in it. */
  welcome(peer: SimPeer): void {
    // An operator does not initialize what was initialized before, even where the peer no longer knows.
    if (peer.state?.peer === undefined && !peer.isDamaged) this.#initialize(peer);
    else this.#unsealSoon(peer);
  }

  #initialize(peer: SimPeer): void {
    const { identity, integrity } = peer.keys;
    const { peers, requestIds } = this.#ports;
    peer.dispatch({
      _tag: "Initialize",
      requestId: requestIds.next(`init-${peer.slot}-`),
      peerId: peer.peerId,
      threshold: peers === 1 ? 1 : Math.floor(peers / 2) + 1,
      total: peers,
      identityKey: identity.publicKey,
      integrityKey: integrity.publicKey,
      vault: new Uint8Array(8),
    });
  }

  /** A peer has answered a request: one that it has initialized gets its keys next. */
  answered(peer: SimPeer, answer: Answer): void {
    if (answer._tag === "Initialized") this.#unsealSoon(peer);
  }

  /** Brings the keys back after a while, if the process that runs now still does. */
  #unsealSoon(peer: SimPeer): void {
    const { scheduler, chronicle } = this.#ground;
    const { processes } = this.#ports;
    const { process } = peer;
    const stretches = chronicle.isHealed ? SEALED_HEALED_MICROS : SEALED_MICROS;
    const unit = processes.lifeOf(peer);
    const wait = unit.spread("is unsealed after", USUAL_SEALED_MICROS, stretches, 500, LONGEST_SEALED_MICROS);
    // The second half of that is the verification of its rows, with the keys in memory and not in use.
    scheduler.after(Math.floor(wait / 2), () => {
      if (peer.isUp && peer.process === process) this.#verify(peer);
    });
    scheduler.after(wait, () => {
      if (peer.isUp && peer.process === process && (peer.isVerifying || !peer.hasKeys)) this.unseal(peer);
    });
  }

  /** The keys of a sealed peer are in its memory, and its rows are being verified. */
  #verify(peer: SimPeer): void {
    if (peer.hasKeys || peer.isSealing || peer.state?.peer === undefined) return;
    this.#ground.chronicle.note("verify", peer.slot, "");
    peer.beginUnseal();
    this.#ground.settle(peer);
  }

  /** Brings a sealed peer's keys back, its rows verified; where a seal is under way, as soon as it is done, as a real peer would. */
  unseal(peer: SimPeer): void {
    peer.unsealsNext = peer.isSealing;
    if (!peer.isUp || peer.isSealing || peer.state?.peer === undefined) return;
    this.#verify(peer);
    if (!peer.isVerifying) return;
    this.#ground.chronicle.note("unseal", peer.slot, "");
    peer.unseal();
    this.#ground.settle(peer);
  }

  /** Asks an unsealed peer to seal itself, which waits for what is under way. */
  seal(peer: SimPeer): void {
    if (!peer.isUp || !peer.hasKeys) return;
    if (peer.isVerifying) this.#ground.chronicle.marks.add("sealed while its rows were verified");
    this.#ground.chronicle.note("seal", peer.slot, "");
    peer.dispatch({ _tag: "Sealed" });
    peer.isSealing = true;
    peer.unsealsNext = false;
    this.#ground.settle(peer);
  }

  /** Takes the keys of a peer away that has handled its seal, and has nothing under way. */
  finishSeal(peer: SimPeer, { unsealed, verifying }: PeerState): void {
    if (!peer.isSealing || unsealed || verifying || !peer.isIdle) return;
    peer.isSealing = false;
    peer.forgetKeys();
  }

  /** Brings back the keys that were asked for while a seal was under way, once it is done. */
  unsealNext(peer: SimPeer): void {
    if (peer.unsealsNext && !peer.isSealing) this.unseal(peer);
  }

  /** Gives an unsealed peer a new integrity key. */
  rotateIntegrity(peer: SimPeer): void {
    if (!peer.isUp || peer.signer === undefined || peer.isSealing) return;
    this.#ground.chronicle.note("rotate the integrity key", peer.slot, "");
    peer.rotateIntegrity(this.#ports.requestIds.next(`rotate-${peer.slot}-`));
    this.#ground.settle(peer);
  }
}
