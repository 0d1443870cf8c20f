/**
 * The moment at which a message becomes an event of its receiver's driver. Some are handed over twice in a row, byte
 * for byte: the second time as soon as the receiver is done with the first, and then it must write nothing (S23).
 */
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Message } from "../../core/Message.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { Opened, Unread } from "../../runtime/EnvelopeCodec.ts";
import { delivery, tokensIn } from "../../runtime/Ingress.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import { Attendance } from "./Attendance.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Heard } from "./Gateway.ts";
import type { TamperedWorld, Tampering } from "./Tampering.ts";
import type { Ground } from "./Ground.ts";
import { countHeard } from "./Situations.ts";
import type { TokenKeys } from "./TokenKeys.ts";

const NO_ACTORS: ReadonlyArray<ActorCheck> = [];

/** A message that will come again. */
interface Again {
  readonly message: Message;
  readonly run: () => void;
  /** The receiver when it came: which process, and how many events it had been given. */
  readonly process: number;
  readonly taken: number;
  /** Not-ready reasons that the receiver has had since then. */
  hindrances: number;
}

interface Ports {
  readonly composition: Composition;
  readonly checkers: Checkers;
  readonly tokenKeys: TokenKeys;
  readonly world: TamperedWorld;
  readonly tampering: Tampering;
}

export class Handovers {
  readonly attendance: Attendance;
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #delivered;
  readonly #handled;
  readonly #redelivered;
  /** By slot. */
  readonly #again = new Map<number, Again>();

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.attendance = new Attendance(ground.scheduler);
    this.#delivered = ports.checkers.hooks("delivered");
    this.#handled = ports.checkers.hooks("handled");
    this.#redelivered = ports.checkers.hooks("redelivered");
  }

  /**
   * Hands a message to a peer that is up.
   *
   * @param opened what was in the envelope; checkers see this one
   * @param heard what the peer hears of it
   * @param how whether it is to come again, and whom to tell when the driver is done with it
   */
  handOver(peer: SimPeer, { from, message, versions }: Opened, heard: Message, { isTwice, consumed }: Heard): void {
    const { chronicle, scheduler, settle } = this.#ground;
    const { tokenKeys, world, tampering } = this.#ports;
    const handled = tampering.delivered?.(world, peer, heard, from) ?? heard;
    countHeard(chronicle.marks, peer, handled, from);
    const tokens = tokensIn(handled, this.#ports.composition);
    const actors = tokens.length === 0 ? NO_ACTORS : tokens.map((token) => tokenKeys.judge(peer, token, true));
    const event = delivery(tampering.sender?.(peer, from, message) ?? from, handled, actors, versions);
    for (const hook of this.#delivered) hook(peer, message, from, scheduler.now);
    if (message._tag === "Ready") this.attendance.answered(peer, from, message);
    const { process, transactions, said } = peer;
    const hindrances = isTwice ? peer.hindrances : 0;
    const before = peer.isIdle ? peer.state : undefined;
    peer.dispatch(event, consumed);
    if (before !== undefined && peer.process === process)
      for (const hook of this.#handled)
        hook(peer, from, message, before, { transactions: peer.transactions - transactions, said: peer.said - said });
    if (isTwice)
      this.#again.set(peer.slot, { process, hindrances, taken: peer.taken, run: () => peer.dispatch(event), message });
    settle(peer);
  }

  /** Tells a peer that is up of a message that it cannot read. */
  unread(peer: SimPeer, { from, versions }: Unread, consumed: () => void): void {
    const { chronicle, settle } = this.#ground;
    chronicle.note("unread from", peer.slot, "", from);
    chronicle.marks.add("a message in a version that its receiver does not speak");
    peer.dispatch({ _tag: "Unread", from, versions }, consumed);
    settle(peer);
  }

  /** The state of a peer has changed: its present not-ready reasons hold since its message came. */
  stepped(peer: SimPeer): void {
    const copied = this.#again.get(peer.slot);
    if (copied !== undefined) copied.hindrances |= peer.hindrances;
  }

  /** Gives a message again to an idle peer that is done with it, if there is one; tells whether it did. */
  repeat(peer: SimPeer): boolean {
    if (!peer.isIdle) return false;
    this.attendance.idle(peer);
    const again = this.#again.get(peer.slot);
    if (again === undefined) return false;
    this.#again.delete(peer.slot);
    if (again.process !== peer.process) return false;
    const before = peer.transactions;
    // A message that came while it was sealed, say, or recovering, it may have passed over, and takes for new now.
    const isNew = peer.taken !== again.taken && (again.hindrances & ~peer.hindrances) !== 0;
    again.run();
    if (!isNew)
      for (const hook of this.#redelivered) hook(peer, again.message, peer.transactions - before, peer.underWay);
    return true;
  }

  /** A peer's process has ended: the next one is told nothing twice. */
  forget(peer: SimPeer): void {
    this.#again.delete(peer.slot);
  }
}
