/**
 * The way of a message from the exchange that brought it to the driver: opened, given room until the driver has consumed
 * it, its exchange kept open where it asks for an answer, its bearer tokens judged.
 */
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Opened, type Scrutiny, TOO_MUCH, type Unread } from "../EnvelopeCodec.ts";
import { tokensIn } from "../Ingress.ts";
import { asksBack, type OpenExchange } from "./HeldAnswers.ts";
import { type MailboxRoom, type Parcel, STRANGERS } from "./MailboxRoom.ts";

/** Events waiting for the driver beyond which new messages are turned away. */
export const MOST_BACKLOG = 4096;

/**
 * Messages of one kind and member, about keys, that may wait for the driver: each may take it milliseconds, and those of
 * one member all come before what another says next. Honest members have a quarter of that under way.
 */
export const MOST_ABOUT_KEYS = 64;

/** Of what is about keys: whose it is, and of which kind. */
const kindOf = ({ from, message }: Opened | Unread): string | undefined =>
  message !== undefined && /^(?:Sign|Repair|Keygen)\./u.test(message._tag) ? `${from} ${message._tag}` : undefined;

/** The exchange that brought a message. */
export interface Incoming<M> extends OpenExchange<M> {
  /** Ends it without having taken the message: it cannot be opened, or there is no room for it, or no time. */
  readonly refuse: (why: "not opened" | "no room" | "too much", detail: string) => void;
  /** The member that a session has proven to be there. */
  readonly member: PeerId | undefined;
  /**
   * Whether this peer's next message to the sender may go back on it. Not where a stranger could have sent a copy of
   * what a member once said: the answer would be gone.
   */
  readonly mayAnswer: boolean;
  /** What its sender may have this peer look into; without it there is no bound. */
  readonly scrutiny: Scrutiny | undefined;
}

/** `P` is what arrives, `M` what this peer answers with. */
export interface IntakePorts<P, M> {
  /** Opens a packet, of this member where a session says so; a text says what is wrong with it. */
  readonly open: (packet: P, member: PeerId | undefined, scrutiny: Scrutiny | undefined) => Opened | Unread | string;
  /** Finds out whom bearer tokens speak for; `judged` may be called at once. */
  readonly judge: (tokens: ReadonlyArray<string>, judged: (actors: ReadonlyArray<ActorCheck>) => void) => void;
  /** Hands a message to the driver; `consumed` is called when the driver is done with it. */
  readonly deliver: (opened: Opened, actors: ReadonlyArray<ActorCheck>, consumed: () => void) => void;
  /** The same with a message that cannot be read here. */
  readonly unread: (unread: Unread, consumed: () => void) => void;
  /** Keeps an exchange open for this peer's next message to the sender. */
  readonly hold: (from: PeerId, exchange: OpenExchange<M>) => void;
  /** Events waiting for the driver. */
  readonly backlog: () => number;
  readonly room: MailboxRoom;
}

const NO_ACTORS: ReadonlyArray<ActorCheck> = [];

export class Intake<P, M> {
  readonly #ports: IntakePorts<P, M>;
  readonly #most: number;
  readonly #of: Pick<Composition, "tokensIn"> | undefined;
  /** Of those about keys, how many wait, by member and kind. */
  readonly #aboutKeys = new Map<string, number>();

  /**
   * @param most events that may wait for the driver
   * @param of what says which tokens a message has; by default this version of the service
   */
  constructor(ports: IntakePorts<P, M>, most = MOST_BACKLOG, of?: Pick<Composition, "tokensIn">) {
    this.#ports = ports;
    this.#most = most;
    this.#of = of;
  }

  /** Whether so much waits for the driver that no message is to be taken in. */
  get isBusy(): boolean {
    return this.#ports.backlog() >= this.#most;
  }

  /** Takes in a message of so many bytes that another peer sends, or refuses it. */
  receive(packet: P, bytes: number, exchange: Incoming<M>): void {
    const { open, room, hold } = this.#ports;
    const opened = open(packet, exchange.member, exchange.scrutiny);
    if (typeof opened === "string") return exchange.refuse(opened === TOO_MUCH ? "too much" : "not opened", opened);
    // Only of a member's own words its versions are known.
    const parcel = room.parcel(opened.versions === undefined ? STRANGERS : opened.from);
    if (!parcel.grow(bytes)) return exchange.refuse("no room", "its sender has as many messages under way as it may");
    if (this.#isCrowded(opened)) {
      parcel.release();
      return exchange.refuse("no room", "its sender has as many about keys under way as it may");
    }
    const { from, message } = opened;
    if (message !== undefined && exchange.mayAnswer && asksBack(message)) hold(from, exchange);
    else exchange.end(undefined);
    this.#takeIn(opened, parcel);
  }

  /** Takes in a packet that came back as the answer to one of this peer's own messages; a bad one is dropped. */
  receiveAnswer(packet: P, parcel: Parcel, member: PeerId | undefined, scrutiny: Scrutiny | undefined): void {
    const opened = this.isBusy ? undefined : this.#ports.open(packet, member, scrutiny);
    if (opened === undefined || typeof opened === "string" || this.#isCrowded(opened)) parcel.release();
    else this.#takeIn(opened, parcel);
  }

  #isCrowded(opened: Opened | Unread): boolean {
    const kind = kindOf(opened);
    return kind !== undefined && (this.#aboutKeys.get(kind) ?? 0) >= MOST_ABOUT_KEYS;
  }

  /** Counts a message about keys until it is consumed. */
  #counted(opened: Opened, release: () => void): () => void {
    const kind = kindOf(opened);
    if (kind === undefined) return release;
    this.#aboutKeys.set(kind, (this.#aboutKeys.get(kind) ?? 0) + 1);
    let isOver = false;
    return () => {
      release();
      if (isOver) return;
      isOver = true;
      const left = (this.#aboutKeys.get(kind) ?? 0) - 1;
      if (left > 0) this.#aboutKeys.set(kind, left);
      else this.#aboutKeys.delete(kind);
    };
  }

  #takeIn(opened: Opened | Unread, parcel: Parcel): void {
    const { deliver, unread, judge } = this.#ports;
    if (opened.message === undefined) return unread(opened, parcel.release);
    const release = this.#counted(opened, parcel.release);
    const tokens = tokensIn(opened.message, this.#of);
    if (tokens.length === 0) return deliver(opened, NO_ACTORS, release);
    judge(tokens, (actors) => deliver(opened, actors, release));
  }
}
