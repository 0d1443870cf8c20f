/**
 * Callers of real peers, many at once: they register, repeat themselves, claim each other's keys, come with tokens
 * that must not do, read what they were promised, and write down every answer.
 */
import { Agent, request as httpRequest } from "node:http";
import { Either, Schema } from "effect";
import type { Answer } from "../../core/Action.ts";
import type { Digest } from "../../core/Digest.ts";
import { rejection, rejectionCodes } from "../../core/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import { REGISTER_PATH } from "../../core/registry/Registration.ts";
import { Census } from "../../sim/Census.ts";
import { type Command, Commands, type TokenKind } from "../../sim/Commands.ts";
import { realCryptography } from "../../sim/Cryptography.ts";
import { Prng } from "../../sim/Prng.ts";
import { Chance } from "./Chance.ts";
import { type Asked, microsNow, type Moment } from "./History.ts";
import type { Tokens } from "./Tokens.ts";

/** The service answers within 10 s. */
const PATIENCE_MILLIS = 15_000;
const THINK_MILLIS = [15, 120] as const;
/** After an answer that says no; nobody hammers at a closed door. */
const TURNED_AWAY_MILLIS = [50, 400] as const;
const REMEMBERED = 256;
const MOST_BODY_BYTES = 1024 * 1024;

export interface Answered {
  /** 0 where no answer came. */
  readonly status: number;
  readonly text: string;
}

const Record = Schema.parseJson(
  Schema.Struct({
    id: Schema.String,
    ref: Schema.String,
    credential: Schema.Struct({ type: Schema.String, algorithm: Schema.String, publicKey64: Schema.String }),
    metadata: Schema.Record({ key: Schema.String, value: Schema.String }),
    metadataRevision: Schema.Number,
    createdAt: Schema.Number,
    updatedAt: Schema.Number,
  }),
);

const Problem = Schema.parseJson(
  Schema.Struct({ code: Schema.String, detail: Schema.String, outcomeUnknown: Schema.optional(Schema.Boolean) }),
);

const decodeRecord = Schema.decodeEither(Record);
const decodeProblem = Schema.decodeEither(Problem);

/** Callers are not shown the key's identity. */
const NOT_SHOWN = "0".repeat(64) as Digest;

/** The row that a record of the API shows, or undefined where it is none. */
const rowOf = (text: string): Rows["approvers"] | undefined => {
  const record = Either.getOrUndefined(decodeRecord(text));
  if (record === undefined) return undefined;
  const { id, ref, credential, metadata, metadataRevision, createdAt, updatedAt } = record;
  const { algorithm, publicKey64, type } = credential;
  return {
    id,
    ref,
    descriptor: JSON.stringify({ algorithm, publicKey64, type, version: 1 }),
    keyIdentity: NOT_SHOWN,
    metadata: Object.entries(metadata).map(([key, value]) => [key, value] as const),
    revision: metadataRevision,
    createdAt,
    updatedAt,
  };
};

const answerOf = ({ status, text }: Answered): Answer | undefined => {
  if (status === 200 || status === 201) {
    const approver = rowOf(text);
    return approver && { _tag: "Registered", created: status === 201, approver, observations: undefined };
  }
  const problem = Either.getOrUndefined(decodeProblem(text));
  const code = rejectionCodes.find((each) => each === problem?.code);
  if (problem === undefined || code === undefined) return undefined;
  const { detail, outcomeUnknown = false } = problem;
  return { _tag: "Rejected", rejection: rejection(code, detail, "", { outcomeUnknown }) };
};

export interface CallersOptions {
  readonly seed: number;
  /** The public address of each peer, by its slot from 1. */
  readonly urls: ReadonlyArray<string>;
  readonly count: number;
  readonly tokens: Tokens;
  readonly note: (moment: Moment) => void;
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

/** One request; never rejects. */
export const call = (
  agent: Agent | undefined,
  url: string,
  path: string,
  { token, body }: { readonly token: string | undefined; readonly body: Uint8Array | undefined },
): Promise<Answered> =>
  new Promise((resolve) => {
    const silence = (): void => resolve({ status: 0, text: "" });
    const { hostname, port } = new URL(url);
    const sent = httpRequest(
      {
        ...(agent && { agent }),
        hostname,
        port,
        path,
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(token !== undefined && { "x-jwt-token": token }),
          ...(body !== undefined && { "content-type": "application/json", "content-length": body.length }),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MOST_BODY_BYTES) response.destroy();
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", silence);
        response.on("close", silence);
      },
    );
    const timer = setTimeout(() => sent.destroy(), PATIENCE_MILLIS);
    sent.on("close", () => clearTimeout(timer));
    sent.on("error", silence);
    sent.end(body);
  });

export class Callers {
  readonly #options: CallersOptions;
  readonly #agent: Agent;
  readonly #subjects: Array<Command> = [];
  readonly #promised: Array<string> = [];
  readonly commands: Commands;
  /** Answers by what was asked and the status; 0 stands for none. */
  readonly answers = new Census();
  /** Registrations that were told 201. */
  successes = 0;
  #nextKey = 1;
  #nextRequest = 1;
  #isOver = false;
  #done: Promise<unknown> = Promise.resolve();

  constructor(options: CallersOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.count });
    this.commands = new Commands(realCryptography(new Prng(options.seed)));
  }

  start(): void {
    const { count, seed } = this.#options;
    this.#done = Promise.all(Array.from({ length: count }, (_, index) => this.#live(new Chance(seed, index + 1))));
  }

  /** Sends nothing new, waits for the answers under way, and closes the connections. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
    this.#agent.destroy();
  }

  /** A registration nobody has asked for yet. */
  fresh(id?: string): Command {
    const key = this.#nextKey++;
    return this.commands.command(id ?? `approver-${key}`, key, `team-${key % 5}`);
  }

  async #live(random: Chance): Promise<void> {
    while (!this.#isOver) {
      await pause(random.between(...THINK_MILLIS));
      if (this.#isOver) return;
      await this.#act(random);
    }
  }

  async #act(random: Chance): Promise<void> {
    const drawn = random.below(100);
    const known = this.#subjects[random.below(Math.max(1, this.#subjects.length))];
    if (known === undefined || drawn < 34) return this.#submit(random, this.#remember(random, this.fresh()));
    // A new version: the same id with another key.
    if (drawn < 40) return this.#submit(random, this.#remember(random, this.fresh(known.id)));
    const { id, key, team } = known;
    // An identical retry may carry other metadata; the first ones are kept (contract 4.1).
    if (drawn < 58)
      return this.#submit(random, random.happens(300) ? this.commands.command(id, key, "another-team") : known);
    if (drawn < 66) return this.#submit(random, this.commands.command(`${id}-too`, key, team));
    if (drawn < 96) return this.#read(random);
    const { status } = await call(this.#agent, this.#url(random), "/v1/custody/system/ready", {
      token: undefined,
      body: undefined,
    });
    this.answers.add(`ready ${status}`);
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

  async #submit(random: Chance, command: Command): Promise<void> {
    const kind: TokenKind = random.happens(50)
      ? random.pick<TokenKind>(["expired", "forbidden", "foreign", "forged"])
      : random.happens(60)
        ? "short"
        : "good";
    for (;;) {
      const answer = await this.register(this.#slot(random), command, kind);
      if (answer?._tag === "Registered") {
        if (this.#promised.length < REMEMBERED) this.#promised.push(answer.approver.ref);
        else this.#promised[random.below(REMEMBERED)] = answer.approver.ref;
        return;
      }
      await pause(random.between(...TURNED_AWAY_MILLIS));
      // Whoever does not know asks again, through whichever peer.
      const isOpen = answer === undefined || (answer._tag === "Rejected" && answer.rejection.outcomeUnknown);
      if (this.#isOver || !isOpen || !random.happens(700)) return;
    }
  }

  /** Sends one registration and writes down what came of it; undefined where nothing did. */
  async register(slot: number, command: Command, kind: TokenKind): Promise<Answer | undefined> {
    const { note, tokens, urls } = this.#options;
    const token = await tokens.of(kind);
    const asked: Asked = { requestId: `r${this.#nextRequest++}`, slot, command, token: kind, at: microsNow() };
    const body = command.call.rawBody;
    const answered = await call(this.#agent, urls[slot - 1] ?? "", REGISTER_PATH, { token, body });
    this.answers.add(`register ${answered.status}`);
    const answer = answerOf(answered);
    if (answered.status === 201) this.successes += 1;
    if (answer !== undefined) {
      const record = answer._tag === "Registered" ? answered.text : undefined;
      note({ _tag: "Replied", at: microsNow(), asked, answer, body: record });
    }
    return answer;
  }

  async #read(random: Chance): Promise<void> {
    const ref = this.#promised[random.below(Math.max(1, this.#promised.length))];
    if (ref !== undefined) await this.read(this.#slot(random), ref);
  }

  /** Reads an approver that was promised; the status, 0 where no answer came. */
  async read(slot: number, ref: string): Promise<number> {
    const { note, tokens, urls } = this.#options;
    const token = await tokens.of("good");
    const path = `${REGISTER_PATH}/${encodeURIComponent(ref)}`;
    const { status, text } = await call(this.#agent, urls[slot - 1] ?? "", path, { token, body: undefined });
    this.answers.add(`read ${status}`);
    if (status !== 200 && status !== 404) return status;
    const found = status === 200 ? rowOf(text) : undefined;
    note({ _tag: "Read", at: microsNow(), slot, ref, found, body: found && text });
    return status;
  }
}
