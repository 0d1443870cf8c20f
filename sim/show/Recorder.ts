/**
 * Writes down a run: one moment for each thing that happens to a peer, with
 * what it made the peer do. Everything it keeps is a reference to an immutable
 * value; what is readable is made of it afterwards (Picture.ts).
 */
import type { Answer } from "../../core/Action.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { Message } from "../../core/Message.ts";
import type { Write } from "../../core/Tables.ts";
import type { Observed, Observer, Sending } from "../world/Observer.ts";
import type { Packet } from "../network/Wire.ts";
import { Reached } from "./Until.ts";
import { type Change, Conditions } from "./Conditions.ts";

/** The newest moments that are kept: the end of a run says what went wrong. */
export const MOST_MOMENTS = 20_000;

export type MomentKind =
  | "deliver"
  | "refuse"
  | "timer"
  | "flush"
  | "crash"
  | "start"
  | "verify"
  | "unseal"
  | "seal"
  | "pause"
  | "resume"
  | "request"
  | "reply"
  | "read"
  | "readiness"
  | "unreachable"
  | "silence"
  | "fault"
  | "network"
  | "healed"
  | "acts";

/** The lines of the trace that are moments of their own. */
const noted: ReadonlyMap<string, MomentKind> = new Map([
  ["deliver from", "deliver"],
  ["refuse", "refuse"],
  ["timer", "timer"],
  ["flush", "flush"],
  ["crash", "crash"],
  ["start", "start"],
  ["verify", "verify"],
  ["unseal", "unseal"],
  ["seal", "seal"],
  ["pause", "pause"],
  ["resume", "resume"],
  ["request", "request"],
]);

export interface Asked {
  readonly requestId: string;
  readonly call: Call;
  readonly actor: ActorCheck;
}

export interface Moment {
  readonly at: number;
  /** How many events of the world there were, this one included. */
  readonly event: number;
  readonly kind: MomentKind;
  /** The peer it happens to; 0 where it happens to the world. */
  readonly slot: number;
  readonly detail: string;
  /** The copy that came in. */
  readonly copy: number | undefined;
  asked: Asked | undefined;
  /** Row changes whose flush ends here. */
  writes: ReadonlyArray<Write>;
  /** A flush begins here. */
  flushes: boolean;
  /** Numbers of {@link Recorder.sends}. */
  readonly sends: Array<number>;
  readonly replies: Array<{ readonly requestId: string; readonly answer: Answer }>;
  readonly marks: Array<string>;
  readonly changes: Array<Change>;
  /** Published here: undefined where no process runs any more. */
  state: { readonly of: number; readonly now: PeerState | undefined } | undefined;
}

/** A message that left a peer, or that a fault made of an older one. */
export interface Sent {
  readonly from: number;
  readonly to: number;
  readonly message: Message;
  readonly how: "sent" | "altered" | "replayed" | "forged";
  readonly moment: number;
  readonly isCut: boolean;
  readonly copies: Array<number>;
}

export interface Copy {
  readonly send: number;
  readonly dueAt: number;
  fate: "under way" | "arrived" | "nobody there";
  /** Where it arrived. */
  moment: number | undefined;
}

export class Recorder implements Observer {
  readonly moments: Array<Moment> = [];
  readonly sends: Array<Sent> = [];
  readonly copies: Array<Copy> = [];
  /** Moments that were there before the first one kept. */
  dropped = 0;
  /** Lines of the trace by their word, to be compared with the trace itself. */
  readonly lines = new Map<string, number>();
  /** The latest state of each peer before the first moment kept. */
  readonly earlier = new Map<number, PeerState | undefined>();
  #world: Observed | undefined;
  #conditions: Conditions | undefined;
  readonly #sendOf = new Map<Packet, number>();
  readonly #underWay = new Map<number, ReadonlyArray<Write>>();
  readonly #open = new Set<string>();
  #arriving: number | undefined;
  #faultAt = -1;
  readonly #until: number | undefined;

  /** @param until the number of the last event that shall happen: then {@link Reached} is thrown out of the run */
  constructor(until?: number) {
    this.#until = until;
  }

  get world(): Observed {
    if (this.#world === undefined) throw new RangeError("nothing was recorded");
    return this.#world;
  }

  began(world: Observed): void {
    this.#world = world;
    this.#conditions = new Conditions(world);
  }

  /** The number of the moment under way; numbers go on where older moments are dropped. */
  get #current(): number {
    return this.dropped + this.moments.length - 1;
  }

  #last(slot: number): Moment {
    const last = this.moments.at(-1);
    if (last !== undefined && last.slot === slot && last.at === this.world.now) return last;
    return this.#begin("acts", slot, "");
  }

  #begin(kind: MomentKind, slot: number, detail: string): Moment {
    if (this.moments.length >= 2 * MOST_MOMENTS) this.#drop();
    const moment: Moment = {
      at: this.world.now,
      event: this.world.events,
      kind,
      slot,
      detail,
      copy: this.#arriving,
      asked: undefined,
      writes: [],
      flushes: false,
      sends: [],
      replies: [],
      marks: [],
      changes: [],
      state: undefined,
    };
    this.#arriving = undefined;
    this.moments.push(moment);
    return moment;
  }

  #drop(): void {
    for (const { state } of this.moments.splice(0, MOST_MOMENTS)) if (state) this.earlier.set(state.of, state.now);
    this.dropped += MOST_MOMENTS;
  }

  noted(what: string, slot: number, detail: string): void {
    this.lines.set(what, (this.lines.get(what) ?? 0) + 1);
    const kind = noted.get(what);
    if (kind === undefined) return;
    const moment = this.#begin(kind, slot, detail);
    if (kind === "crash") {
      moment.state = { of: slot, now: undefined };
      this.#underWay.delete(slot);
    }
    if (kind !== "flush") return;
    moment.writes = this.#underWay.get(slot) ?? [];
    this.#underWay.delete(slot);
  }

  sent({ from, to, packet, message, isAltered }: Sending): void {
    const moment = this.#last(from);
    const isCut = this.world.network.link(from, to).cut;
    const how = isAltered ? "altered" : "sent";
    moment.sends.push(this.sends.length);
    this.#sendOf.set(packet, this.sends.length);
    this.sends.push({ from, to, message, how, moment: this.#current, isCut, copies: [] });
  }

  transmitted(to: number, packet: Packet, delay: number, origin: Parameters<Observer["transmitted"]>[3]): number {
    const send = origin === undefined ? this.#sendOf.get(packet) : this.#made(to, origin);
    if (send === undefined) throw new RangeError("a packet that nobody sent");
    const copy = this.copies.length;
    this.copies.push({ send, dueAt: this.world.now + delay, fate: "under way", moment: undefined });
    this.sends[send]?.copies.push(copy);
    return copy;
  }

  /** A fault's own message belongs to no peer's moment, so it is listed with the fault. */
  #made(to: number, { from, message, how }: NonNullable<Parameters<Observer["transmitted"]>[3]>): number {
    const last = this.moments.at(-1);
    const moment = last?.kind === "fault" && last.at === this.world.now ? last : this.#begin("fault", 0, how);
    const send = this.sends.length;
    moment.sends.push(send);
    this.sends.push({ from, to, message, how, moment: this.#current, isCut: false, copies: [] });
    return send;
  }

  arriving(copy: number | undefined): void {
    this.#arriving = copy;
    this.#settle(copy, "arrived", this.#current + 1);
  }

  missed(copy: number | undefined): void {
    this.#settle(copy, "nobody there", undefined);
  }

  #settle(number: number | undefined, fate: Copy["fate"], moment: number | undefined): void {
    const copy = number === undefined ? undefined : this.copies[number];
    if (copy === undefined) return;
    copy.fate = fate;
    copy.moment = moment;
  }

  asked(slot: number, requestId: string, call: Call, actor: ActorCheck): void {
    this.#last(slot).asked = { requestId, call, actor };
    this.#open.add(requestId);
  }

  replied(slot: number, requestId: string, answer: Answer): void {
    this.#last(slot).replies.push({ requestId, answer });
    this.#open.delete(requestId);
  }

  forgot(requestId: string): void {
    if (this.#open.delete(requestId)) this.#begin("silence", 0, requestId);
  }

  acted(act: "read" | "readiness" | "unreachable", slot: number, about: string, isFound: boolean): void {
    const moment = this.#begin(act, slot, about);
    if (act === "read") moment.marks.push(isFound ? "found" : "not found");
  }

  flushing({ slot }: { readonly slot: number }, writes: ReadonlyArray<Write>): void {
    this.#last(slot).flushes = true;
    this.#underWay.set(slot, writes);
  }

  stepped({ slot, state }: { readonly slot: number; readonly state: PeerState | undefined }): void {
    this.#last(slot).state = { of: slot, now: state };
  }

  counted(kind: "fault" | "mark", name: string): void {
    if (kind === "mark") {
      const last = this.moments.at(-1);
      if (last?.at === this.world.now) last.marks.push(name);
      return;
    }
    // A crash is a moment of its own, and says of what kind it was.
    if (name.startsWith("crash: ")) return;
    this.#begin("fault", 0, name);
    this.#faultAt = this.world.now;
  }

  healed(): void {
    this.#begin("healed", 0, "");
  }

  ticked(): void {
    const changes = this.#conditions?.changes() ?? [];
    if (changes.length > 0) {
      const last = this.moments.at(-1);
      const isOwn = last?.kind === "fault" && this.#faultAt === this.world.now;
      (isOwn ? last : this.#begin("network", 0, "")).changes.push(...changes);
    }
    if (this.#until !== undefined && this.world.events >= this.#until) throw new Reached();
  }
}
