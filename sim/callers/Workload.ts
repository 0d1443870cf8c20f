/**
 * Callers: they register, repeat themselves after an answer or a silence, claim
 * each other's keys, replace metadata, race each other for a revision, read what
 * they were promised, and write down every answer.
 */
import type { Stream, Unit } from "../base/Choices.ts";
import { guesses, ifMatchOf } from "../requests/IfMatch.ts";
import { OpenRequests } from "./OpenRequests.ts";
import { isDone, isOpen, nameOf, type Outcome, outcomeMarks } from "../requests/Outcome.ts";
import {
  type Command,
  type Form,
  isCommand,
  isReplacement,
  type Replacement,
  type TokenKind,
  tokenKinds,
  USUAL,
} from "../requests/Commands.ts";
import type { Asked } from "../requests/Asked.ts";
import type { Deed } from "../models/Model.ts";
import type { WorkloadPlan } from "../base/Plan.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { type Finish, type Invite, isFinish, isInvite } from "../requests/EnrollmentRequests.ts";
import { Enrollments } from "./Enrollments.ts";
import { Inquiries } from "./Inquiries.ts";
import { KeyHolders } from "./KeyHolders.ts";
import { KeyInquiries } from "./KeyInquiries.ts";
import { Lister } from "./Lister.ts";
import { labelsOf } from "../requests/Labels.ts";
import { atEdge, edgeNames, edgeWeights } from "../requests/Edges.ts";
import type { Success } from "../requests/Success.ts";
import type { World } from "../world/World.ts";

/** The writer refuses tokens with less than 5 s left by its clock, which may be 2.4 s slow. */
const LEAST_TOKEN_MILLIS = 2_500;
const MOST_TOKEN_MILLIS = 20_000;
const LONG_TOKEN_MILLIS = 3_600_000;
const TURNED_AWAY_MICROS = 500_000;
/** A caller's usual pause, and the longest. */
const USUAL_PAUSE_MICROS = 50_000;
const LONGEST_PAUSE_MICROS = 2_000_000;
/** Registrations that callers come back to. */
const REMEMBERED = 256;

const deeds = [
  "register",
  "register a version",
  "repeat",
  "claim",
  "replace",
  "replace on a guess",
  "race",
  "read",
  "ask for readiness",
  "invite",
  "finish",
  "follow",
] as const;

const EVENLY: ReadonlyArray<number> = guesses.map(() => 1);

/** Formats that a key may come in, beside the usual one. */
const MOST_FORMATS = 2;

/** Few, so that two callers may ask for the very same thing. */
const TEAMS = 3;
/** Metadata that is cleared. */
const NO_TEAM = 0;

export class Workload {
  readonly #world: World;
  readonly #plan: WorkloadPlan;
  readonly #deedWeights: ReadonlyArray<number>;
  /** Weights of deeds in a world that is full. */
  readonly #fullWeights: ReadonlyArray<number>;
  readonly #tokenWeights: ReadonlyArray<number>;
  /** Deeds that models add to those of the plan. */
  readonly #others: ReadonlyMap<string, Deed>;
  readonly #deeds: ReadonlyArray<string>;
  readonly #enrollments: Enrollments;
  readonly #subjects: Array<Command> = [];
  readonly #requests: OpenRequests;
  readonly #lister: Lister;
  readonly #inquiries: Inquiries;
  readonly #keys: KeyHolders;
  readonly #keyInquiries: KeyInquiries;
  /** Refs a caller was promised: reads look for them. */
  readonly #promised: Array<string> = [];
  /** The revision of each that was last heard of, in an answer or a read. */
  readonly #revisions = new Map<string, number>();
  #nextKey = 1;
  /** What is sent beside the next request, through another peer. */
  #copies: "identical" | "contradicting" | undefined;
  #remembered = 0;
  #kept = 0;
  #stopped = false;

  constructor(world: World) {
    this.#world = world;
    this.#enrollments = new Enrollments(world);
    this.#requests = new OpenRequests(world, (asked, answer) => this.#succeeded(asked, answer));
    this.#lister = new Lister(world);
    this.#inquiries = new Inquiries(world);
    this.#keys = new KeyHolders(world);
    this.#keyInquiries = new KeyInquiries(world);
    this.#plan = world.plan.workload;
    const { fresh, version, retry, conflict, replace, guess, race, read, readiness, invite, finish, follow } =
      this.#plan;
    const { badTokens, shortTokens } = this.#plan;
    const others = [retry, conflict, replace, guess, race, read, readiness, invite, finish, follow];
    const brought: Array<Deed> = world.product.models.flatMap((model) => model.deeds(world.commands, this.#plan));
    // Plans without keys draw nothing more.
    const { keys } = this.#plan;
    if (keys > 0) brought.push({ name: "use a key", weight: keys, draw: (unit) => this.#useKey(unit) });
    this.#others = new Map(brought.map((each) => [each.name, each]));
    this.#deeds = [...deeds, ...this.#others.keys()];
    const all = [...others, ...brought.map(({ weight }) => weight)];
    this.#deedWeights = [fresh, version, ...all];
    this.#fullWeights = [0, 0, ...all];
    // Per million, in the order of their kinds: tokens that are not bad are short or good.
    const bad = badTokens * 250;
    this.#tokenWeights = [
      (1000 - badTokens) * (1000 - shortTokens),
      (1000 - badTokens) * shortTokens,
      bad,
      bad,
      bad,
      bad,
    ];
    world.service.callers = {
      answered: (requestId, answer) => this.#requests.answered(requestId, answer),
      refusedByWriter: (requestId, code) => this.#requests.refusedByWriter(requestId, code),
      sendTwice: () => {
        this.#copies = "identical";
      },
      contradict: () => {
        this.#copies = "contradicting";
      },
    };
  }

  start(): void {
    for (let caller = 1; caller <= this.#plan.callers; caller++)
      this.#think(this.#world.choices.stream(`caller ${caller}`));
    if (this.#plan.isListing) this.#lister.start();
  }

  /** Whether some caller still waits for an answer. */
  get isWaiting(): boolean {
    return !this.#requests.isEmpty;
  }

  /** From now on callers send nothing new. */
  stop(): void {
    this.#stopped = true;
    this.#lister.stop();
  }

  /** A registration that no caller has asked for yet. */
  freshCommand(id?: string): Command {
    const key = this.#nextKey++;
    const command = this.#world.commands.command(id ?? `approver-${key}`, key, `team-${key % 5}`);
    this.#subjects[this.#remembered++ % REMEMBERED] = command;
    return command;
  }

  /** Sends one request under a good token and tells what came of it, once. */
  ask(peer: SimPeer, asked: Asked, done: (outcome: Outcome) => void): void {
    this.#requests.send(peer, asked, "good", LONG_TOKEN_MILLIS, done);
  }

  #succeeded(asked: Asked, answer: Success): void {
    if (answer._tag === "Offered") {
      if (isInvite(asked)) this.#enrollments.hold({ invite: asked, offer: answer.offer });
      return;
    }
    this.#keys.told(answer);
    if (answer._tag !== "Registered" && answer._tag !== "Replaced") return;
    const { ref, revision } = answer.approver;
    if (isFinish(asked)) {
      this.#enrollments.enrolled(asked);
      // Its key signs, too: callers come back to it in the other format.
      this.#subjects[this.#remembered++ % REMEMBERED] = this.#world.commands.command(asked.id, asked.key, asked.team);
    }
    if (isCommand(asked)) this.#inquiries.registered(ref, asked);
    if (answer._tag === "Registered") this.#promised[this.#kept++ % REMEMBERED] = ref;
    this.#revisions.set(ref, revision);
  }

  #think(caller: Stream): void {
    const { leastThinkMicros, mostThinkMicros } = this.#plan;
    this.#pause(caller, "thinks for", leastThinkMicros, mostThinkMicros, (unit) => this.#act(caller, unit));
  }

  /** Begins the caller's next act with a pause, in microseconds. */
  #pause(caller: Stream, label: string, least: number, most: number, then: (unit: Unit) => void): void {
    const unit = caller.next();
    this.#world.after(unit.between(label, USUAL_PAUSE_MICROS, least, most, 0, LONGEST_PAUSE_MICROS), () => then(unit));
  }

  /** The peer that the caller asks; where nothing is drawn, the writer. */
  #through(unit: Unit): SimPeer {
    const { plan, writerSlot } = this.#world;
    return this.#world.peer(unit.between("through peer", writerSlot, 1, plan.peers));
  }

  /** One of the things that callers remember; undefined where there is none. */
  #any<A>(unit: Unit, label: string, all: ReadonlyArray<A>): A | undefined {
    return all.length === 0 ? undefined : all[unit.between(label, 0, 0, all.length - 1, 0, REMEMBERED - 1)];
  }

  #act(caller: Stream, unit: Unit): void {
    if (this.#stopped) return;
    const isFull = this.#nextKey > this.#plan.mostKeys;
    const deed = unit.named("does", "register", this.#deeds, isFull ? this.#fullWeights : this.#deedWeights);
    if (deed === "ask for readiness") {
      this.#world.service.askReadiness(this.#through(unit), this.#world.service.newRequestId());
      return this.#think(caller);
    }
    if (deed === "read") {
      this.#read(unit, this.#any(unit, "promise", this.#promised));
      this.#inquiries.ask(unit, this.#through(unit));
      return this.#think(caller);
    }
    if (deed === "replace" || deed === "replace on a guess" || deed === "race")
      return this.#replace(caller, unit, deed);
    const other = this.#others.get(deed);
    if (other !== undefined) return this.#doOther(caller, unit, other);
    if (deed === "invite") return this.#submit(caller, unit, this.#edged(unit, this.#invitation(unit)));
    if (deed === "finish") return this.#enroll(caller, unit);
    const known = deed === "register" ? undefined : this.#subject(unit, deed);
    const command = this.#commandOf(unit, deed, known, isFull);
    if (command !== undefined) return this.#submit(caller, unit, this.#edged(unit, command));
    // It moves the run on all the same: otherwise a quiet run would go on thinking for an hour of virtual time.
    this.#world.chronicle.calls += 1;
    this.#think(caller);
  }

  #useKey(unit: Unit): Asked {
    this.#keyInquiries.ask();
    return this.#keys.draw(unit);
  }

  #doOther(caller: Stream, unit: Unit, { draw }: Deed): void {
    const drawn = draw(unit);
    if ("call" in drawn) {
      const theft = "keyId" in drawn ? this.#keys.theft(unit) : undefined;
      if (theft !== undefined) return this.#submit(caller, unit, theft);
      const rival = this.#keys.rival(unit, drawn);
      if (rival !== undefined)
        this.ask(this.#through(unit), rival, (outcome) =>
          this.#world.marks.add(`a rival for a key: ${nameOf(outcome)}`),
        );
      return this.#submit(caller, unit, drawn);
    }
    this.#world.service.look(this.#through(unit), drawn.subject, drawn.ref);
    this.#think(caller);
  }

  /** The registration that a caller comes back to; undefined where there is none. */
  #subject(unit: Unit, deed: string): Command | undefined {
    if (deed !== "follow") return this.#any(unit, "subject", this.#subjects);
    return this.#subjects[(this.#remembered - 1) % REMEMBERED];
  }

  /** For an id that is known already, or for one of a few under which only passkeys are enrolled. */
  #invitation(unit: Unit): Invite {
    const known = unit.chance("for a known id", 300) ? this.#any(unit, "subject", this.#subjects) : undefined;
    return this.#enrollments.invite(known?.id ?? `holder-${unit.between("holder", 1, 1, 9)}`, `team-${this.#kept % 5}`);
  }

  /** Answers options; in a race another caller does so at the same time, with another response. */
  #enroll(caller: Stream, unit: Unit): void {
    const respond = (): Finish | undefined =>
      this.#enrollments.response(
        unit,
        () => this.#nextKey++,
        (id) => this.#keyFor(unit, id),
      );
    const finish = respond();
    if (finish === undefined) return this.#submit(caller, unit, this.#invitation(unit));
    const rival = unit.chance("races", 250) ? respond() : undefined;
    if (rival !== undefined)
      this.ask(this.#through(unit), rival, (outcome) => this.#world.marks.add(`holder, racing: ${nameOf(outcome)}`));
    this.#submit(caller, unit, this.#edged(unit, finish));
  }

  /** The number of a key that a caller registered: under this id, for a new version of it, or under any. */
  #keyFor(unit: Unit, id: string): number | undefined {
    const own = this.#subjects.find((each) => each.id === id);
    return own !== undefined && unit.chance("of the same id", 500)
      ? own.key
      : this.#any(unit, "known key", this.#subjects)?.key;
  }

  /** The registration to ask for; undefined where nothing new is to be registered any more. */
  #commandOf(unit: Unit, deed: string, known: Command | undefined, isFull: boolean): Command | undefined {
    if (known === undefined || deed === "register") return isFull ? undefined : this.freshCommand();
    if (deed === "register a version") return this.freshCommand(known.id);
    const { commands } = this.#world;
    const form = this.#formOf(unit);
    if (deed === "claim") return commands.command(`${known.id.slice(0, 100)}-too`, known.key, known.team, form);
    // An identical retry may carry other metadata; the first ones are kept (contract 4.1).
    const team = unit.chance("with other metadata", 300) ? "another-team" : known.team;
    return team === known.team && form === USUAL ? known : commands.command(known.id, known.key, team, form);
  }

  /** The request itself, or at the edge of a rule; plans without such requests draw nothing. */
  #edged(unit: Unit, asked: Asked): Asked {
    if (this.#plan.edges === 0 || !unit.chance("is at an edge", this.#plan.edges)) return asked;
    const name = unit.named("edge", edgeNames[0] ?? "", edgeNames, edgeWeights);
    return atEdge(this.#world.commands, asked, name) ?? asked;
  }

  /** How a registration of a key that is known is written; plans with the usual form only draw nothing. */
  #formOf(unit: Unit): Form {
    if (this.#plan.otherFormats === 0 || !unit.chance("in another form", this.#plan.otherFormats)) return USUAL;
    const form = unit.named("form", "format", ["format", "order", "algorithm"] as const, [3, 1, 2]);
    this.#world.marks.add(`a known key came in another ${form}`);
    return {
      format: form === "format" ? unit.between("format", 1, 1, MOST_FORMATS) : 0,
      isSorted: form === "order",
      isTwin: form === "algorithm",
    };
  }

  /** Replaces the metadata of an approver that a caller was promised; in a race another does so at the same time. */
  #replace(caller: Stream, unit: Unit, deed: "replace" | "replace on a guess" | "race"): void {
    const ref = this.#any(unit, "approver", this.#promised);
    if (ref === undefined) return this.#think(caller);
    const guess = deed === "replace on a guess" ? unit.named("if match", "that", guesses, EVENLY) : "that";
    const ifMatch = ifMatchOf(guess, this.#revisions.get(ref) ?? 1);
    if (deed === "race")
      this.ask(this.#through(unit), this.#replacement(unit, ref, ifMatch), (outcome) =>
        this.#world.marks.add(outcomeMarks[nameOf(outcome)].racer),
      );
    this.#submit(caller, unit, this.#edged(unit, this.#replacement(unit, ref, ifMatch)));
  }

  #replacement(unit: Unit, ref: string, ifMatch: string | undefined): Replacement {
    const team = unit.between("team", 1, NO_TEAM, TEAMS);
    const name = team === NO_TEAM ? undefined : `team-${team}`;
    const isSorted = labelsOf(name).length > 1 && unit.chance("in order", 500);
    return this.#world.commands.replacement(ref, ifMatch, name, isSorted);
  }

  #lifeOf(unit: Unit, kind: TokenKind): number {
    if (kind === "expired") return -1_000;
    if (kind !== "short") return LONG_TOKEN_MILLIS;
    const { mostTokenMillis } = this.#plan;
    return unit.between(
      "token lives for",
      MOST_TOKEN_MILLIS,
      LEAST_TOKEN_MILLIS,
      mostTokenMillis,
      LEAST_TOKEN_MILLIS,
      MOST_TOKEN_MILLIS,
    );
  }

  #submit(caller: Stream, unit: Unit, asked: Asked): void {
    const peer = this.#through(unit);
    const kind = unit.named("token", "good", tokenKinds, this.#tokenWeights);
    if (this.#copies !== undefined) this.#submitBeside(peer, asked, this.#copies);
    this.#requests.send(peer, asked, kind, this.#lifeOf(unit, kind), (outcome) => {
      this.#world.marks.add(outcomeMarks[nameOf(outcome)].caller);
      // The revision tells a careful caller more than another answer would; others just ask again.
      if (isReplacement(asked) && !isDone(outcome) && unit.chance("reads first", 500)) this.#read(unit, asked.ref);
      // A caller that was told nothing certain asks again, through any peer.
      if (isOpen(outcome) && !this.#stopped && unit.chance("asks again", 600))
        this.#pause(caller, "asks again after", 1_000, LONGEST_PAUSE_MICROS, (next) => {
          if (!this.#stopped) this.#submit(caller, next, asked);
        });
      else if (isDone(outcome)) this.#think(caller);
      // A caller that was turned away comes back later; none hammers at a closed door.
      else this.#pause(caller, "stays away for", 1_000, TURNED_AWAY_MICROS, (next) => this.#act(caller, next));
    });
  }

  /** The same request through another peer at once, or one of the same approver with other metadata. */
  #submitBeside(peer: SimPeer, asked: Asked, copies: "identical" | "contradicting"): void {
    this.#copies = undefined;
    const { plan, marks } = this.#world;
    const other = this.#world.peer((peer.slot % plan.peers) + 1);
    const { product, commands } = this.#world;
    // One that breaks a rule would break it in other words too, and nobody would know.
    const isSame = copies === "identical" || asked.edge !== undefined;
    const beside = isSame ? asked : product.modelOf(asked).rewritten(commands, asked);
    this.ask(other, beside, (outcome) => marks.add(outcomeMarks[nameOf(outcome)].beside));
  }

  #read(unit: Unit, ref: string | undefined): void {
    const found = ref === undefined ? undefined : this.#world.service.read(this.#through(unit), ref);
    if (found !== undefined) this.#revisions.set(found.ref, found.revision);
  }
}
