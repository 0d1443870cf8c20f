/** The way of one process to the other peers and back: the links, held answers and intake of a real peer. */
import type { Composition } from "../../core/protocol/Composition.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Opened, Unread } from "../../runtime/EnvelopeCodec.ts";
import { HeldAnswers, MOST_HELD } from "../../runtime/transport/HeldAnswers.ts";
import { type Incoming, Intake, MOST_BACKLOG } from "../../runtime/transport/Intake.ts";
import { type DropReason, type Exchange, Link, type LinkPorts, linkLimits } from "../../runtime/transport/Link.ts";
import { Links, type LinkTo } from "../../runtime/transport/Links.ts";
import { LEAST_BYTES, MailboxRoom, roomLimits } from "../../runtime/transport/MailboxRoom.ts";
import type { Time } from "../../runtime/Time.ts";
import type { NarrowPlan } from "../base/Plan.ts";
import type { Letter } from "../network/Letter.ts";
import type { Asker, Crossing } from "./Crossing.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";

/** How a message comes to the driver. */
export interface Heard {
  readonly isTwice: boolean;
  readonly consumed: () => void;
}

export interface GatewayPorts {
  readonly time: Time;
  readonly narrow: NarrowPlan | undefined;
  readonly tampering: Tampering;
  readonly open: (peer: SimPeer, letter: Letter, member: PeerId | undefined) => Opened | Unread | string;
  readonly transmit: (gateway: Gateway, to: PeerId, exchange: Exchange<Letter>) => void;
  /** A link takes a letter. */
  readonly sent: (peer: SimPeer, letter: Letter) => void;
  /** It drops one; at most so many wait in each lane. */
  readonly dropped: (peer: SimPeer, reason: DropReason, letter: Letter, most: number) => void;
  readonly hear: (peer: SimPeer, opened: Opened, heard: Heard) => void;
  readonly unread: (peer: SimPeer, unread: Unread, heard: Heard) => void;
}

/** Whoever takes a message in finds out whom its tokens speak for: what it hears may be another message. */
const LATER: Pick<Composition, "tokensIn"> = { tokensIn: () => [] };

/** How much a process takes on at once. */
export const limitsOf = (narrow: NarrowPlan | undefined) =>
  narrow === undefined
    ? { link: linkLimits, room: roomLimits, held: MOST_HELD, backlog: MOST_BACKLOG }
    : {
        link: { ...linkLimits, ...narrow },
        room: { ofMember: narrow.memberMessages * LEAST_BYTES, all: 2 * narrow.memberMessages * LEAST_BYTES },
        held: narrow.held,
        backlog: narrow.backlog,
      };

export class Gateway implements Asker {
  readonly peer: SimPeer;
  readonly links: Links<Letter>;
  readonly known = new Map<PeerId, number>();
  readonly #process: number;
  readonly #ports: GatewayPorts;
  readonly #room: MailboxRoom;
  readonly #intake: Intake<Letter, Letter>;
  #isTwice = false;

  /** Of the process of a peer that runs now. */
  constructor(peer: SimPeer, ports: GatewayPorts) {
    this.peer = peer;
    this.#process = peer.process;
    this.#ports = ports;
    const { time, narrow, tampering, open, sent, transmit, dropped, hear, unread } = ports;
    const limits = limitsOf(narrow);
    const linkTo = (to: PeerId): LinkTo<Letter> => {
      const own: LinkPorts<Letter> = {
        transmit: (exchange) => transmit(this, to, exchange),
        dropped: (reason, letter) => dropped(peer, reason, letter, limits.link.queuedMessages),
      };
      const link = tampering.link?.(own, limits.link) ?? new Link(own, limits.link);
      const send = (letter: Letter): void => {
        sent(peer, letter);
        link.send(letter);
      };
      return {
        send,
        close: () => link.close(),
        get isReachable() {
          return link.isReachable;
        },
      };
    };
    const held = tampering.held?.(time, limits.held) ?? new HeldAnswers<Letter>(time, limits.held);
    this.links = new Links(held, new Map([...peer.addresses.keys()].map((to) => [to, linkTo(to)])));
    this.#room = new MailboxRoom(limits.room);
    this.#intake = new Intake<Letter, Letter>(
      {
        open: (letter, member) => open(peer, letter, member),
        judge: (_tokens, judged) => judged([]),
        deliver: (opened, _actors, consumed) => hear(peer, opened, { isTwice: this.#isTwice, consumed }),
        unread: (each, consumed) => unread(peer, each, { isTwice: false, consumed }),
        hold: (from, exchange) => this.links.hold(from, exchange),
        backlog: () => peer.backlog,
        room: this.#room,
      },
      limits.backlog,
      LATER,
    );
  }

  get isOpen(): boolean {
    return this.peer.isUp && this.peer.process === this.#process;
  }

  /** Whether so much waits for the driver that messages are turned away. */
  get isBusy(): boolean {
    return this.#intake.isBusy;
  }

  /** Sends a letter as an answer, or on the link to its peer. */
  send(letter: Letter): void {
    this.links.send(letter.to, letter);
  }

  /** A message of another peer has come, and will come again where it is handed over twice. */
  receive(letter: Letter, isTwice: boolean, incoming: Incoming<Letter>): void {
    this.#isTwice = isTwice;
    this.#intake.receive(letter, letter.bytes, incoming);
  }

  /** The answer to a message of this process has come back. */
  receiveAnswer(letter: Letter, isTwice: boolean, crossing: Crossing, member: PeerId | undefined): void {
    const parcel = this.#room.parcel(crossing.exchange.message.to);
    this.#isTwice = isTwice;
    if (parcel.grow(letter.bytes)) this.#intake.receiveAnswer(letter, parcel, member, undefined);
    else this.#ports.dropped(this.peer, "no room", letter, 0);
    crossing.finish("taken");
  }
}
