/**
 * Callers: they register, repeat themselves after an answer or a silence, claim
 * each other's keys, read what they were promised, and write down every answer.
 */
import type { Answer } from "../core/Action.ts";
import type { Command, TokenKind } from "./Commands.ts";
import type { WorkloadPlan } from "./Plan.ts";
import type { Prng } from "./Prng.ts";
import type { SimPeer } from "./SimPeer.ts";
import { type Attempt, assertAskedFor } from "./Success.ts";
import type { World } from "./World.ts";

/** How long a caller waits; the service answers within 10 s. */
const PATIENCE_MICROS = 12_000_000;
/** The writer refuses tokens with less than 5 s left by its clock, which may be 2.4 s slow. */
const LEAST_TOKEN_MILLIS = 2_500;
const TURNED_AWAY_MICROS = 500_000;
/** Registrations that callers come back to. */
const REMEMBERED = 256;

/** The outcome of an attempt that somebody is waiting for. */
export type Outcome = Answer | "unreachable" | "silence";

export class Workload {
  readonly #world: World;
  readonly #plan: WorkloadPlan;
  readonly #random: Prng;
  readonly #subjects: Array<Command> = [];
  readonly #waiting = new Map<string, { readonly attempt: Attempt; readonly done: (outcome: Outcome) => void }>();
  /** Refs a caller was promised: reads look for them. */
  readonly #promised: Array<string> = [];
  #nextKey = 1;
  #stopped = false;

  constructor(world: World) {
    this.#world = world;
    this.#plan = world.plan.workload;
    this.#random = world.streams.workload;
    world.listener = { answered: (requestId, answer) => this.#answered(requestId, answer) };
  }

  start(): void {
    for (let caller = 0; caller < this.#plan.callers; caller++) this.#think();
  }

  /** Callers send nothing new from now on. */
  stop(): void {
    this.#stopped = true;
  }

  /** A registration nobody has asked for yet. */
  freshCommand(id?: string): Command {
    const key = this.#nextKey++;
    return this.#remember(this.#world.commands.command(id ?? `approver-${key}`, key, `team-${key % 5}`));
  }

  /** Sends one registration and tells what came of it, once. */
  register(peer: SimPeer, command: Command, kind: TokenKind, done: (outcome: Outcome) => void): void {
    const world = this.#world;
    const requestId = world.newRequestId();
    const life =
      kind === "short"
        ? this.#random.between(LEAST_TOKEN_MILLIS, this.#plan.mostTokenMillis)
        : kind === "expired"
          ? -1_000
          : 3_600_000;
    const token = world.commands.token(kind, world.realMillis, life);
    this.#waiting.set(requestId, { attempt: { command, token: kind }, done });
    world.after(PATIENCE_MICROS, () => this.#finish(requestId, "silence"));
    if (!world.request(peer, requestId, command.call, token.text)) this.#finish(requestId, "unreachable");
  }

  #remember(command: Command): Command {
    if (this.#subjects.length < REMEMBERED) this.#subjects.push(command);
    else this.#subjects[this.#random.below(REMEMBERED)] = command;
    return command;
  }

  #finish(requestId: string, outcome: Outcome): void {
    const waiting = this.#waiting.get(requestId);
    if (waiting === undefined) return;
    this.#waiting.delete(requestId);
    this.#world.forget(requestId);
    waiting.done(outcome);
  }

  #answered(requestId: string, answer: Answer): void {
    const waiting = this.#waiting.get(requestId);
    if (waiting === undefined) return;
    if (answer._tag === "Registered") {
      assertAskedFor(requestId, waiting.attempt, answer.approver);
      if (this.#promised.length < REMEMBERED) this.#promised.push(answer.approver.ref);
      else this.#promised[this.#random.below(REMEMBERED)] = answer.approver.ref;
    }
    this.#finish(requestId, answer);
  }

  #think(): void {
    const { leastThinkMicros, mostThinkMicros } = this.#plan;
    this.#world.after(this.#random.between(leastThinkMicros, mostThinkMicros), () => this.#act());
  }

  #anyPeer(): SimPeer {
    return this.#world.peer(1 + this.#random.below(this.#world.plan.peers));
  }

  #act(): void {
    if (this.#stopped) return;
    const { fresh, retry, conflict, version, read, readiness, mostKeys } = this.#plan;
    const isFull = this.#nextKey > mostKeys;
    const growth = isFull ? 0 : fresh + version;
    let drawn = this.#random.below(Math.max(1, growth + retry + conflict + read + readiness));
    const takes = (weight: number): boolean => (drawn -= weight) < 0;
    const known = this.#subjects[this.#random.below(Math.max(1, this.#subjects.length))];
    if (!isFull && (takes(fresh) || known === undefined)) return this.#submit(this.freshCommand());
    if (known === undefined) return this.#think();
    if (!isFull && takes(version)) return this.#submit(this.freshCommand(known.id));
    const { commands } = this.#world;
    // An identical retry may carry other metadata; the first ones are kept (contract 4.1).
    if (takes(retry))
      return this.#submit(this.#random.chance(300) ? commands.command(known.id, known.key, "another-team") : known);
    if (takes(conflict)) return this.#submit(commands.command(`${known.id}-too`, known.key, known.team));
    if (takes(read)) this.#read();
    else this.#world.askReadiness(this.#anyPeer(), this.#world.newRequestId());
    this.#think();
  }

  #submit(command: Command): void {
    const bad = this.#random.chance(this.#plan.badTokens);
    const kind: TokenKind = bad
      ? this.#random.pick<TokenKind>(["expired", "forbidden", "foreign", "forged"])
      : this.#random.chance(this.#plan.shortTokens)
        ? "short"
        : "good";
    this.register(this.#anyPeer(), command, kind, (outcome) => {
      this.#world.marks.add(`caller: ${nameOf(outcome)}`);
      const isOpen = typeof outcome === "string" || (outcome._tag === "Rejected" && outcome.rejection.outcomeUnknown);
      // Whoever does not know asks again, through whichever peer.
      if (isOpen && !this.#stopped && this.#random.chance(600))
        this.#world.after(this.#random.between(1_000, 2_000_000), () => this.#stopped || this.#submit(command));
      else if (typeof outcome !== "string" && outcome._tag === "Registered") this.#think();
      // Whoever was turned away comes back later; nobody hammers at a closed door.
      else this.#world.after(this.#random.between(1_000, TURNED_AWAY_MICROS), () => this.#act());
    });
  }

  #read(): void {
    const ref = this.#promised[this.#random.below(Math.max(1, this.#promised.length))];
    if (ref !== undefined) this.#world.read(this.#anyPeer(), ref);
  }
}

/** One word for an outcome. */
const nameOf = (outcome: Outcome): string => {
  if (typeof outcome === "string") return outcome;
  if (outcome._tag === "Rejected") return outcome.rejection.outcomeUnknown ? "outcome unknown" : "refused";
  return "success";
};
