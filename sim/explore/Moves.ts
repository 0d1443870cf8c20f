/** The moves that can be made next in a configuration. */
import type { Event, TimerName } from "../../core/protocol/Event.ts";
import { delivery, tokensIn } from "../../runtime/Ingress.ts";
import type { Call as Asked } from "../../core/protocol/Forward.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Commands } from "../requests/Commands.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { type Budget, type Call, type Configuration, configurationOf } from "./Configuration.ts";
import { isSame } from "./Fingerprint.ts";
import type { Bench, Effect, Flying, Member, Reaction } from "./Member.ts";
import type { Keeping, Spoken } from "./Spoken.ts";

/** Longer than a proposal is valid. */
const PAUSE_MILLIS = 61_000;

/** The requests of callers, and the peers that they go through. */
export interface PlannedRequest {
  readonly through: number;
  /** What it asks for, in words. */
  readonly name: string;
  /** What it is to the peer. */
  readonly event: (requestId: string) => Event;
  /** Whether it is repeated for ever, and not only once in vain. */
  readonly isRepeated: boolean;
}

/** A caller's command. */
export const calling =
  (commands: Commands, call: Asked, token: string): PlannedRequest["event"] =>
  (requestId) => ({ _tag: "Command", requestId, call, token, actor: commands.judge(token) });

/** What a member says that its driver did not ask for. */
export interface Lie {
  readonly from: PeerId;
  readonly to: PeerId;
  readonly message: Message;
  /** What is wrong with it. */
  readonly name: string;
}

/** What callers ask for in a small world, who lies there and how, and what has to be remembered for that. */
export interface Plot {
  readonly requests: ReadonlyArray<PlannedRequest>;
  /** Everything that could be said wrongly now. */
  readonly lies: (spoken: Spoken) => ReadonlyArray<Lie>;
  readonly keeping: (budget: Budget) => Keeping;
  /** Whether a message makes no difference to what is asked for here, nor the other way round, whichever comes first. */
  readonly isAside: (message: Message) => boolean;
  /** The member that needs no crash: it may say nothing anyway. */
  readonly crashless: PeerId | undefined;
  /** Whether the next timer fires where nothing is on its way, and faults may follow; else only to come to rest. */
  readonly isTimed: boolean;
}

/** A possible move: its words, and what it leads to. */
export interface Move {
  readonly name: () => string;
  readonly make: () => Configuration;
}

interface Change {
  readonly member?: Reaction | undefined;
  readonly flying?: ReadonlyArray<Flying>;
  /** The message that has arrived. */
  readonly arrived?: Flying;
  /** The member whose process ended. */
  readonly ended?: PeerId;
  readonly calls?: ReadonlyArray<Call>;
  readonly time?: number;
  readonly budget?: Partial<Budget>;
}

const without = (flying: ReadonlyArray<Flying>, index: number): ReadonlyArray<Flying> => flying.toSpliced(index, 1);

const nameOf = ({ from, to, message }: Flying): string => `${message._tag} from ${from} to ${to}`;

/** A member's timer that is due first; the earlier in the list of names on a tie. */
const nextTimer = ({ memory }: Member): readonly [TimerName, number] | undefined => {
  let first: readonly [TimerName, number] | undefined;
  for (const each of memory?.state.timers ?? []) if (first === undefined || each[1] < first[1]) first = each;
  return first;
};

export class Moves {
  readonly #bench: Bench;
  readonly #cryptography: Cryptography;
  readonly #commands: Commands;
  readonly #plot: Plot;

  constructor(bench: Bench, cryptography: Cryptography, commands: Commands, plot: Plot) {
    this.#bench = bench;
    this.#cryptography = cryptography;
    this.#commands = commands;
    this.#plot = plot;
  }

  get isTimed(): boolean {
    return this.#plot.isTimed;
  }

  /** Every move, or a single one that may be made before all others without loss. */
  of(at: Configuration): ReadonlyArray<Move> {
    const { members, budget } = at;
    // Nothing else at this member can come before the end of its flush, and the moves of others do not affect it:
    // while no process can crash, its place among their moves makes no difference.
    if (budget.crashes === 0) {
      const member = members.find(({ flushing }) => flushing !== undefined);
      if (member !== undefined) return this.#flushes(at, member);
      const aside = budget.timers + budget.pauses === 0 ? this.#aside(at) : undefined;
      if (aside !== undefined) return aside;
    }
    return [
      ...members.flatMap((member) => [...this.#flushes(at, member), ...this.#crashes(at, member)]),
      ...members.flatMap((member) => (member.memory === undefined ? this.#start(at, member) : [])),
      ...this.#plot.requests.flatMap((_request, index) => this.#submit(at, index)),
      ...this.#messages(at),
      ...this.#lies(at),
      ...members.flatMap((member) => this.#fire(at, member, true)),
      ...this.#pause(at),
    ];
  }

  /** The next move of a world in which nothing more goes wrong: messages in order, timers when nothing else is left. */
  quiet(at: Configuration): Move | undefined {
    const { members, flying } = at;
    const flushing = members.find((member) => member.flushing !== undefined);
    if (flushing !== undefined) return this.#flushes(at, flushing)[0];
    const down = members.find(({ memory }) => memory === undefined);
    if (down !== undefined) return this.#start(at, down)[0];
    const [first] = flying;
    if (first !== undefined) return this.#deliver(at, first, 0, 0)[0];
    const asked = this.#plot.requests.findIndex(({ isRepeated }, index) => isRepeated && at.calls[index] === "unsent");
    if (asked >= 0) return this.#submit(at, asked)[0];
    const due = members.flatMap((member) => {
      const timer = nextTimer(member);
      return timer === undefined ? [] : [{ member, due: timer[1] }];
    });
    const next = due.toSorted((left, right) => left.due - right.due)[0];
    return next && this.#fire(at, next.member, false)[0];
  }

  #after(at: Configuration, name: string, change: Change): Configuration {
    const { member, time, arrived, ended } = change;
    const budget = change.budget === undefined ? at.budget : { ...at.budget, ...change.budget };
    const keeping = this.#plot.keeping(budget);
    let { spoken } = at;
    if (budget.lies !== at.budget.lies) spoken = spoken.within(keeping);
    let flying = change.flying ?? at.flying;
    let calls = change.calls ?? at.calls;
    if (member !== undefined) {
      [flying, calls] = this.#carryOut(member.effects, flying, calls);
      const sent = member.effects.filter((effect) => "message" in effect);
      spoken = spoken.with(keeping, sent, arrived === undefined ? [] : [arrived]);
    }
    if (ended !== undefined)
      calls = calls.map((call, index) => {
        const request = this.#plot.requests[index];
        if (call !== "sent" || request?.through !== ended) return call;
        return request.isRepeated ? "unsent" : "lost";
      });
    return configurationOf({
      members:
        member === undefined
          ? at.members
          : at.members.map((each) => (each.peerId === member.member.peerId ? member.member : each)),
      flying,
      calls,
      spoken,
      time: time ?? at.time,
      budget,
      origin: { move: name, before: at },
    });
  }

  #carryOut(
    effects: ReadonlyArray<Effect>,
    flying: ReadonlyArray<Flying>,
    calls: ReadonlyArray<Call>,
  ): readonly [ReadonlyArray<Flying>, ReadonlyArray<Call>] {
    if (effects.length === 0) return [flying, calls];
    const sent = [...flying];
    let answered = calls;
    for (const effect of effects)
      if ("message" in effect) sent.push(effect);
      else answered = answered.with(effect.call, effect.answer);
    return [sent, answered];
  }

  #flushes(at: Configuration, member: Member): ReadonlyArray<Move> {
    const { flushing, peerId } = member;
    if (flushing === undefined) return [];
    const name = `the flush of ${peerId} ends`;
    return [
      { name: () => name, make: () => this.#after(at, name, { member: this.#bench.endFlush(member, flushing) }) },
    ];
  }

  /** A process ends: with its transaction lost, or kept and any first part of what follows from it done. */
  #crashes(at: Configuration, member: Member): ReadonlyArray<Move> {
    const { flushing, memory, peerId } = member;
    if (at.budget.crashes === 0 || memory === undefined || peerId === this.#plot.crashless) return [];
    const budget = { crashes: at.budget.crashes - 1 };
    const crash = (how: string, kept: boolean, effects: ReadonlyArray<Effect>): Move => {
      const name = `${peerId} crashes ${how}`;
      return {
        name: () => name,
        make: () =>
          this.#after(at, name, {
            member: { member: this.#bench.crash(member, kept), effects },
            budget,
            ended: peerId,
          }),
      };
    };
    if (flushing === undefined) return [crash("", false, [])];
    const { effects } = flushing;
    return [
      crash("before its flush", false, []),
      crash("after its flush, before it acts", true, []),
      ...effects.slice(1).map((_effect, index) => {
        const done = index + 1;
        return crash(`after its flush and ${done} of ${effects.length} actions`, true, effects.slice(0, done));
      }),
    ];
  }

  /** Something that happens to a member, and the same with the end of its process after any first part of its actions. */
  #happens(at: Configuration, name: string, change: Change): ReadonlyArray<Move> {
    const { member } = change;
    const whole = { name: () => name, make: () => this.#after(at, name, change) };
    if (at.budget.crashes === 0 || member === undefined) return [whole];
    if (member.member.peerId === this.#plot.crashless) return [whole];
    const { effects } = member;
    const budget = { ...change.budget, crashes: at.budget.crashes - 1 };
    const ended = member.member.peerId;
    const parts = effects.slice(1).map((_effect, index): Move => {
      const done = index + 1;
      const words = `${name}, and ${ended} crashes after ${done} of ${effects.length} actions`;
      const cut = { member: this.#bench.crash(member.member, false), effects: effects.slice(0, done) };
      return { name: () => words, make: () => this.#after(at, words, { ...change, member: cut, budget, ended }) };
    });
    return [whole, ...parts];
  }

  #start(at: Configuration, member: Member): ReadonlyArray<Move> {
    return this.#happens(at, `${member.peerId} starts`, { member: this.#bench.start(member, at.time) });
  }

  #submit(at: Configuration, index: number): ReadonlyArray<Move> {
    const request = this.#plot.requests[index];
    const member = request && at.members[request.through - 1];
    if (request === undefined || member?.memory === undefined || member.flushing !== undefined) return [];
    if (at.calls[index] !== "unsent") return [];
    const { event, through } = request;
    const requestId = `r${index}`;
    return this.#happens(at, `a caller asks ${through} for ${request.name}`, {
      member: this.#bench.handle(member, requestId, at.time, () => event(requestId)),
      calls: at.calls.with(index, "sent"),
    });
  }

  #messages(at: Configuration): ReadonlyArray<Move> {
    // Two copies of one message are one choice.
    return at.flying.flatMap((each, index) =>
      at.flying.findIndex(({ print }) => isSame(print, each.print)) < index ? [] : this.#ofMessage(at, each, index),
    );
  }

  /** What may become of a message that nothing else depends on, if there is one: it makes no difference when. */
  #aside(at: Configuration): ReadonlyArray<Move> | undefined {
    const index = at.flying.findIndex(
      ({ message, to }) => this.#plot.isAside(message) && at.members[to - 1]?.memory !== undefined,
    );
    const message = at.flying[index];
    return message && this.#ofMessage(at, message, index);
  }

  #ofMessage(at: Configuration, each: Flying, index: number): ReadonlyArray<Move> {
    const { budget } = at;
    const target = at.members[each.to - 1];
    if (target === undefined || target.flushing !== undefined) return [];
    const moves = [...this.#deliver(at, each, index, 0)];
    // A message to a peer that is down goes nowhere, which is a loss that costs nothing.
    if (target.memory === undefined) return moves;
    if (budget.duplicates > 0) moves.push(...this.#deliver(at, each, index, 1));
    if (budget.losses > 0) moves.push(this.#lose(at, each, index));
    return moves;
  }

  #lose(at: Configuration, each: Flying, index: number): Move {
    const name = (): string => `${nameOf(each)} is lost`;
    const budget = { losses: at.budget.losses - 1 };
    return { name, make: () => this.#after(at, name(), { flying: without(at.flying, index), budget }) };
  }

  /** A message arrives; with `copies` 1 another copy of it stays on its way. */
  #deliver(at: Configuration, each: Flying, index: number, copies: 0 | 1): ReadonlyArray<Move> {
    return this.#happens(at, `${nameOf(each)} arrives${copies === 0 ? "" : " and will again"}`, {
      member: this.#opened(at, each),
      arrived: each,
      flying: copies === 0 ? without(at.flying, index) : at.flying,
      budget: { duplicates: at.budget.duplicates - copies },
    });
  }

  /** A lie arrives as soon as it is told: whoever tells one knows no less later. */
  #lies(at: Configuration): ReadonlyArray<Move> {
    const { members, budget } = at;
    if (budget.lies === 0) return [];
    return this.#plot.lies(at.spoken).flatMap(({ from, to, message, name }) => {
      const [liar, target] = [members[from - 1], members[to - 1]];
      if (liar === undefined || target?.memory === undefined || target.flushing !== undefined) return [];
      const said = this.#bench.utterance(liar, to, message);
      if (said === undefined) return [];
      return this.#happens(at, `${from} tells ${to} a ${message._tag} ${name}`, {
        member: this.#opened(at, said),
        arrived: said,
        budget: { lies: budget.lies - 1 },
      });
    });
  }

  #opened(at: Configuration, flying: Flying): Reaction | undefined {
    const member = at.members[flying.to - 1];
    return member && this.#bench.handle(member, flying, at.time, (state) => this.#eventOf(state, flying));
  }

  #eventOf(state: PeerState, { packet }: Flying): Event | undefined {
    const opened = this.#cryptography.wire.open(this.#cryptography.crypto, state, packet);
    if (typeof opened === "string" || opened.message === undefined) return undefined;
    const { from, message } = opened;
    const actors = tokensIn(message).map((token) => this.#commands.judge(token));
    return delivery(from, message, actors);
  }

  #fire(at: Configuration, member: Member, isCounted: boolean): ReadonlyArray<Move> {
    const next = member.flushing === undefined ? nextTimer(member) : undefined;
    if (next === undefined || (isCounted && at.budget.timers === 0)) return [];
    const [timer, due] = next;
    const name = `timer ${timer} of ${member.peerId} fires`;
    const time = Math.max(at.time, due);
    const budget = { timers: at.budget.timers - (isCounted ? 1 : 0) };
    return [
      {
        name: () => name,
        make: () =>
          this.#after(at, name, {
            member: this.#bench.handle(member, timer, time, () => ({ _tag: "TimerFired", timer })),
            time,
            budget,
          }),
      },
    ];
  }

  #pause(at: Configuration): ReadonlyArray<Move> {
    if (at.budget.pauses === 0) return [];
    const name = "more time than a proposal has goes by";
    const budget = { pauses: at.budget.pauses - 1 };
    return [{ name: () => name, make: () => this.#after(at, name, { time: at.time + PAUSE_MILLIS, budget }) }];
  }
}
