/**
 * Callers of real peers, many at once: they register, repeat themselves, claim each other's keys, enroll passkeys,
 * replace metadata, race each other for a revision, send bad tokens, read and list what they were promised, and write down every
 * answer.
 */
import type { Agent } from "node:http";
import type { Answer } from "../../core/Action.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import { Limits } from "../../core/base/Limits.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { Census } from "../../sim/base/Census.ts";
import { type Command, Commands, type Replacement, type TokenKind } from "../../sim/requests/Commands.ts";
import { realCryptography } from "../../sim/crypto/Cryptography.ts";
import type { Finish, Invite, Invited } from "../../sim/requests/EnrollmentRequests.ts";
import { Prng } from "../../sim/base/Prng.ts";
import { isSuccess } from "../../sim/requests/Success.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { answerOf, shownIn } from "./AnswerText.ts";
import { Chance } from "./Chance.ts";
import { Enrollments, type Keys } from "./Enrollments.ts";
import { type Asked, microsNow, type Moment } from "./History.ts";
import { agentFor, type Answered, call, type Sent } from "./HttpCall.ts";
import { listVersions } from "./Lists.ts";
import { type Kept, Promised } from "./Promised.ts";
import type { Tokens } from "./Tokens.ts";

const THINK_MILLIS = [15, 120] as const;
/** The pause after a refusal, so that no caller hammers at a closed door. */
const TURNED_AWAY_MILLIS = [50, 400] as const;
const REMEMBERED = 256;
/** Ids under which only passkeys are enrolled; few, so that one has several. */
const HOLDERS = 9;

export interface CallersOptions {
  readonly seed: number;
  /** The public address of each peer, by its slot from 1. */
  readonly urls: ReadonlyArray<string>;
  /** The authority of their certificates, in PEM; undefined where they speak in clear. */
  readonly ca: string | undefined;
  readonly count: number;
  readonly tokens: Tokens;
  readonly note: (moment: Moment) => void;
  /** Called when an answer cannot be one of the service. */
  readonly broken: (violation: Violation) => void;
}

/** The contents of one request. */
type Said = Command | Replacement | Invite | Finish;

/** The name that a caller's tokens are made for. */
const CALLER = "caller";
/** The numbers of the draws for requests that fill a registry, and for those that are a burden. */
const FILLERS = 4_000;
const BURDENS = 10_000;

/** Whitespace and escapes to the last byte that is accepted, one byte more, and the largest ever accepted. */
const heavyBodies = [
  utf8Bytes(`{"id":"${"\\u0061".repeat(40_000)}"}`),
  utf8Bytes(`{"id":${" ".repeat(Limits.requestBodyBytes - 8)}1}`),
  utf8Bytes(`[${"[".repeat(Limits.requestBodyBytes)}`),
  new Uint8Array(10 * 1024 * 1024).fill(0x20),
] as const;

/** The number of the draws, beside the peer's, for requests once everything is healed. */
const OPERATOR = 3_000;

const verbs = { REGISTER: "register", METADATA: "replace", OPTIONS: "invite", FINISH: "finish" } as const;

/** Sample keys with an odd number are of the algorithm that passkeys share with keys that sign (sim/crypto/Cryptography.ts). */
const isPasskeyNumber = (key: number): boolean => key % 2 === 1;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

export class Callers {
  readonly #options: CallersOptions;
  readonly #agent: Agent;
  readonly #subjects: Array<Command> = [];
  readonly #promised: Promised;
  readonly commands: Commands;
  readonly #enrollments: Enrollments;
  /** Every invitation that a caller was told. */
  readonly invitations: Array<string> = [];
  /** Answers by request and status; 0 stands for none. */
  readonly answers = new Census();
  /** Registrations and enrollments answered 201. */
  successes = 0;
  #nextKey = 1;
  #nextRequest = 1;
  #burdens = 0;
  #isOver = false;
  #done: Promise<unknown> = Promise.resolve();

  constructor(options: CallersOptions) {
    this.#options = options;
    this.#agent = agentFor(options.ca, { keepAlive: true });
    // All are known again when the run is judged.
    this.commands = new Commands(realCryptography(new Prng(options.seed)), 0, Number.POSITIVE_INFINITY);
    this.#promised = new Promised(this.commands);
    this.#enrollments = new Enrollments(this.commands.enrollment);
  }

  start(): void {
    const { count, seed } = this.#options;
    const caller = (_: unknown, index: number): Promise<void> =>
      this.#live(new Chance(seed, index + 1), `registrar-${index + 1}`);
    this.#done = Promise.all(Array.from({ length: count }, caller));
  }

  /** Sends nothing new, waits for the answers under way, and closes the connections. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
    this.#agent.destroy();
  }

  /** Registers so many approvers, as quickly as the cluster takes them. */
  async fill(rows: number, atOnce: number): Promise<void> {
    let left = rows;
    const one = async (random: Chance): Promise<void> => {
      while (left-- > 0) await this.#submit(random, this.fresh());
    };
    await Promise.all(
      Array.from({ length: atOnce }, (_, index) => one(new Chance(this.#options.seed, FILLERS + index))),
    );
  }

  /** More callers for a while, that do nothing but register; or that send bodies of the greatest length. */
  async burden(count: number, how: "many" | "heavy", millis: number): Promise<void> {
    const until = performance.now() + millis;
    const one = async (random: Chance): Promise<void> => {
      while (!this.#isOver && performance.now() < until) {
        if (how === "many") await this.#submit(random, this.fresh());
        else await this.#refused(this.#slot(random), random.pick(heavyBodies));
      }
    };
    this.#burdens += 1;
    const first = BURDENS + 1_000 * this.#burdens;
    await Promise.all(Array.from({ length: count }, (_, index) => one(new Chance(this.#options.seed, first + index))));
  }

  /** Invalid bodies that are as costly to read as a body can be. */
  async #refused(slot: number, body: Uint8Array): Promise<void> {
    const from = microsNow();
    const answered = await call(this.#agent, this.#options.urls[slot - 1] ?? "", REGISTER_PATH, {
      token: await this.#options.tokens.of("good"),
      body,
    });
    this.#overdue(answered, slot, "a heavy body", from);
    this.answers.add(`heavy ${answered.status}`);
    if (answered.status >= 200 && answered.status < 300)
      this.#options.broken(new Violation("S14", "a body is not valid", `peer ${slot} answered ${answered.status}`));
  }

  #overdue({ isOverdue }: Answered, slot: number, what: string, from: number): void {
    if (isOverdue === true) this.#options.note({ _tag: "Unanswered", at: microsNow(), from, slot, what });
  }

  /** A registration that no caller has asked for yet. */
  fresh(id?: string): Command {
    const key = this.#nextKey++;
    return this.commands.command(id ?? `approver-${key}`, key, `team-${key % 5}`);
  }

  /**
   * An honest response to fresh options; undefined where there are none.
   *
   * @param draw the number of its draws
   */
  async invited(
    slot: number,
    { id, registrar, draw } = { id: `enrolled-${slot}`, registrar: `operator-${slot}`, draw: OPERATOR + slot },
  ): Promise<Finish | undefined> {
    const random = new Chance(this.#options.seed, draw);
    const invite = this.commands.enrollment.invite(id, "team-0");
    const answer = await this.ask(slot, invite, "good", registrar);
    if (answer?._tag !== "Offered") return undefined;
    return this.#enrollments.fresh(random, { invite, offer: answer.offer }, this.#keys(random));
  }

  async #live(random: Chance, registrar: string): Promise<void> {
    while (!this.#isOver) {
      await pause(random.between(...THINK_MILLIS));
      if (this.#isOver) return;
      await this.#act(random, registrar);
    }
  }

  async #act(random: Chance, registrar: string): Promise<unknown> {
    const drawn = random.below(100);
    const known = this.#subjects[random.below(Math.max(1, this.#subjects.length))];
    if (known === undefined || drawn < 24) return this.#submit(random, this.#remember(random, this.fresh()));
    // A new version: the same id with another key.
    if (drawn < 29) return this.#submit(random, this.#remember(random, this.fresh(known.id)));
    const { id, key, team } = known;
    // An identical retry may carry other metadata; the first ones are kept (contract 4.1).
    if (drawn < 43)
      return this.#submit(random, random.happens(300) ? this.commands.command(id, key, "another-team") : known);
    if (drawn < 50) return this.#submit(random, this.commands.command(`${id}-too`, key, team));
    if (drawn < 66) return this.#enroll(random, registrar, known);
    if (drawn < 74) return this.#enrollAgain(random, registrar);
    if (drawn < 85) return this.#replace(random);
    if (drawn < 94) return this.#read(random);
    if (drawn < 97) return this.#list(random);
    const { status } = await call(this.#agent, this.#url(random), "/v1/custody/system/ready", {
      token: undefined,
      body: undefined,
    });
    return this.answers.add(`ready ${status}`);
  }

  /** A registrar takes options from one peer, and the holder of the invitation finishes through others. */
  async #enroll(random: Chance, registrar: string, known: Command): Promise<void> {
    const id = random.happens(300) ? known.id : `holder-${random.between(1, HOLDERS)}`;
    const invite = this.commands.enrollment.invite(id, `team-${random.below(5)}`);
    const answer = await this.#submit(random, invite, registrar);
    if (answer?._tag !== "Offered") return;
    const invited = { invite, offer: answer.offer };
    this.#enrollments.hold(invited);
    // Some are answered later, by any caller, and some never.
    if (random.happens(900)) await this.#respond(random, invited);
  }

  /** A response is sent again, or another one to an invitation that is open, finished or expired. */
  async #enrollAgain(random: Chance, registrar: string): Promise<void> {
    const sent = random.happens(500) ? this.#enrollments.anySent(random) : undefined;
    const held = this.#enrollments.anyHeld(random);
    if (sent !== undefined) await this.#finish(random, sent, registrar);
    else if (held !== undefined) await this.#respond(random, held);
  }

  /** Answers options, now and then wrongly at first, and now and then in a race with another authenticator. */
  async #respond(random: Chance, invited: Invited): Promise<void> {
    const keys = this.#keys(random);
    if (random.happens(150)) await this.#finish(random, this.#enrollments.wrong(random, invited, keys), CALLER);
    const rivals = [this.#enrollments.honest(random, invited, keys)];
    if (random.happens(250)) rivals.push(this.#enrollments.honest(random, invited, keys));
    await Promise.all(rivals.map((rival) => this.#finish(random, rival, CALLER)));
  }

  async #finish(random: Chance, finish: Finish, bearer: string): Promise<void> {
    const answer = await this.#submit(random, finish, bearer);
    if (answer?._tag !== "Registered") return;
    this.#enrollments.enrolled(finish);
    // From now on others claim its key as one that signs.
    if (isPasskeyNumber(finish.key) && random.happens(500))
      this.#remember(random, this.commands.command(finish.id, finish.key, finish.team));
  }

  #keys(random: Chance): Keys {
    return {
      fresh: () => this.#nextKey++,
      known: () => {
        const key = this.#subjects[random.below(Math.max(1, this.#subjects.length))]?.key;
        return key !== undefined && isPasskeyNumber(key) ? key : undefined;
      },
    };
  }

  #remember(random: Chance, command: Command): Command {
    if (this.#subjects.length < REMEMBERED) this.#subjects.push(command);
    else this.#subjects[random.below(REMEMBERED)] = command;
    return command;
  }

  #slot(random: Chance): number {
    return 1 + random.below(this.#options.urls.length);
  }

  #url(random: Chance): string {
    return this.#options.urls[this.#slot(random) - 1] ?? "";
  }

  /** Asks until the outcome is known, or time is up; returns the last answer. */
  async #submit(random: Chance, said: Said, bearer = CALLER): Promise<Answer | undefined> {
    const kind: TokenKind = random.happens(50)
      ? random.pick<TokenKind>(["expired", "forbidden", "foreign", "forged"])
      : random.happens(60)
        ? "short"
        : "good";
    for (;;) {
      const answer = await this.ask(this.#slot(random), said, kind, bearer);
      if (answer !== undefined && isSuccess(answer)) return answer;
      await pause(random.between(...TURNED_AWAY_MILLIS));
      // A caller that was told nothing certain asks again, through any peer.
      const isOpen = answer === undefined || (answer._tag === "Rejected" && answer.rejection.outcomeUnknown);
      if (this.#isOver || !isOpen || !random.happens(700)) return answer;
    }
  }

  /** Sends one request and writes down its answer; undefined where there was none. */
  async ask(slot: number, said: Said, kind: TokenKind, bearer = CALLER): Promise<Answer | undefined> {
    const { broken, note, tokens, urls } = this.#options;
    const token = await tokens.of(kind, bearer);
    const requestId = `r${this.#nextRequest++}`;
    const asked: Asked = { requestId, slot, said, token: kind, at: microsNow() };
    note({ _tag: "Asked", at: asked.at, asked });
    const { method, path, ifMatch, rawBody: body } = said.call;
    const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
    const answered = await call(this.#agent, urls[slot - 1] ?? "", path, { method, token, body, headers });
    const { status, text } = answered;
    this.#overdue(answered, slot, `${requestId}, ${verbs[said.kind]}`, asked.at);
    this.answers.add(`${verbs[said.kind]} ${status}`);
    const answer = answerOf(answered, said.kind);
    if (answer === undefined) {
      if (status >= 200 && status < 300)
        broken(new Violation("S14", `request ${requestId} was answered ${status}`, "the answer cannot be read"));
      return undefined;
    }
    if (status === 201) this.successes += 1;
    if (answer._tag === "Registered" || answer._tag === "Replaced") {
      const { ref, revision } = answer.approver;
      this.#assertTagged(answered, revision, `request ${requestId}`);
      this.#promised.told(ref, { revision, text });
    }
    if (answer._tag !== "Offered") note({ _tag: "Replied", at: microsNow(), asked, answer, body: text });
    else {
      const { invitation } = answer.offer;
      this.invitations.push(invitation);
      // The one answer that may hold the invitation is not searched for it.
      note({ _tag: "Replied", at: microsNow(), asked, answer, body: text.replace(invitation, "") });
    }
    return answer;
  }

  async #read(random: Chance): Promise<void> {
    const ref = this.#promised.any(random);
    if (ref === undefined) return;
    await this.read(this.#slot(random), ref, random.happens(500) ? this.#promised.kept(ref) : undefined);
  }

  async #list(random: Chance): Promise<void> {
    const ref = this.#promised.any(random);
    if (ref !== undefined) await this.list(this.#slot(random), ref);
  }

  /** One GET with a good token. */
  async get(slot: number, path: string, what: string, headers: Sent["headers"] = {}): Promise<Answered> {
    const { tokens, urls } = this.#options;
    const from = microsNow();
    const token = await tokens.of("good");
    const answered = await call(this.#agent, urls[slot - 1] ?? "", path, { token, body: undefined, headers });
    this.#overdue(answered, slot, what, from);
    this.answers.add(`${what} ${answered.status}`);
    return answered;
  }

  /** Lists all versions of the id of an approver that was promised; false where the list did not come to its end. */
  list(slot: number, ref: string): Promise<boolean> {
    const { broken, note } = this.#options;
    const page = (at: number, path: string): Promise<Answered> => this.get(at, path, "list");
    const id = ref.slice(0, ref.indexOf("@"));
    return listVersions({ page, note, broken }, slot, id, this.#promised.versionsOf(ref));
  }

  /** Replaces the metadata of an approver that was promised; in a race others do so at the same time. */
  async #replace(random: Chance): Promise<void> {
    const ref = this.#promised.any(random);
    if (ref === undefined) return;
    const one = async (replacement: Replacement): Promise<void> => {
      const answer = await this.#submit(random, replacement);
      // The revision tells a careful caller more than another answer would.
      if (answer?._tag !== "Replaced" && random.happens(500)) await this.read(this.#slot(random), ref);
    };
    await Promise.all(this.#promised.replacements(random, ref).map(one));
  }

  /** A replacement of the metadata of an approver, at the revision last shown. */
  replacement(ref: string): Replacement {
    return this.#promised.replacement(ref);
  }

  /** A record is shown with its revision as its tag (contract 2.1). */
  #assertTagged({ etag }: Answered, revision: number, what: string): void {
    if (etag !== `"${revision}"`)
      this.#options.broken(new Violation("S12", `${what} was shown revision ${revision}`, `its tag is ${etag}`));
  }

  /**
   * Reads an approver that was promised.
   *
   * @param kept a record that is asked for only if it is not the current one
   * @returns the status, 0 where no answer came
   */
  async read(slot: number, ref: string, kept?: Kept): Promise<number> {
    const path = `${REGISTER_PATH}/${encodeURIComponent(ref)}`;
    const from = microsNow();
    const answered = await this.get(slot, path, "read", kept && { "if-none-match": `"${kept.revision}"` });
    const { status } = answered;
    if (status !== 200 && status !== 304 && status !== 404) return status;
    // Not modified: the peer has what is kept.
    const text = status === 304 ? (kept?.text ?? "") : answered.text;
    const found = status === 404 ? undefined : shownIn(text)?.approver;
    if (found !== undefined) {
      this.#assertTagged(answered, found.revision, `a read from peer ${slot}`);
      this.#promised.read(ref, { revision: found.revision, text });
    }
    this.#options.note({ _tag: "Read", at: microsNow(), from, slot, ref, found, body: text });
    return status;
  }
}
