/**
 * Callers of real peers that have keys made, renewed and destroyed, sign with them, and repair shares. Every signature is
 * verified outside the product, at once or, where nobody shows its generation just then, once everything is healed.
 */
import type { Agent } from "node:http";
import type { Answer } from "../../core/Action.ts";
import { KEYS_PATH } from "../../core/commands/keys/KeyId.ts";
import { Census } from "../../sim/base/Census.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { messageOf } from "../../sim/checkers/Signing.ts";
import type { Commands, TokenKind } from "../../sim/requests/Commands.ts";
import {
  creation,
  ending,
  type KeyMaking,
  type KeyRequest,
  renewal,
  repairing,
  signing,
  type Signing,
} from "../../sim/requests/KeyRequests.ts";
import { isSuccess } from "../../sim/requests/Success.ts";
import { Chance } from "./Chance.ts";
import { microsNow, type Moment } from "./History.ts";
import { agentFor, type Answered, call } from "./HttpCall.ts";
import { keyAnswerOf, keyIn, type ShownKey } from "./KeyAnswerText.ts";
import { verifiesAs } from "./SignatureVerifier.ts";
import type { Tokens } from "./Tokens.ts";

const THINK_MILLIS = [20, 160] as const;
const TURNED_AWAY_MILLIS = [50, 400] as const;
/** The number of the draws of callers with keys, beside their own. */
const HOLDERS = 20_000;
/** Keys that a run makes, so that callers come back to each of them. */
const MOST_KEYS = 10;
const DIGEST_BYTES = 32;
const BEARER = "holder";

export interface KeyCallersOptions {
  readonly seed: number;
  /** The public address of each peer, by its slot from 1. */
  readonly urls: ReadonlyArray<string>;
  /** The authority of their certificates, in PEM; undefined where they speak in clear. */
  readonly ca: string | undefined;
  readonly count: number;
  readonly tokens: Tokens;
  readonly commands: Commands;
  readonly note: (moment: Moment) => void;
  /** Called when an answer is a wrong one whatever the peers have stored. */
  readonly broken: (violation: Violation) => void;
}

/** A key as its callers know it. */
interface Known {
  readonly keyId: string;
  readonly scheme: string;
  generation: number;
  isDestroyed: boolean;
}

/** A signature that a caller was given. */
interface Given {
  readonly slot: number;
  readonly requestId: string;
  readonly asked: Signing;
  readonly generation: number;
  /** Hexadecimal. */
  readonly signature: string;
}

const suites = [
  ["ED25519", "EdDSA"],
  ["SECP256K1", "BIP340"],
  ["SECP256K1", "TAPROOT"],
] as const;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

export class KeyCallers {
  readonly #options: KeyCallersOptions;
  readonly #agent: Agent;
  readonly #known = new Map<string, Known>();
  /** By key and generation: how it was shown. */
  readonly #shown = new Map<string, ShownKey>();
  #unverified: Array<Given> = [];
  /** Answers by request and status; 0 stands for none. */
  readonly answers = new Census();
  #verified = 0;
  #nextKey = 1;
  #nextRequest = 1;
  #isOver = false;
  #done: Promise<unknown> = Promise.resolve();

  constructor(options: KeyCallersOptions) {
    this.#options = options;
    this.#agent = agentFor(options.ca, { keepAlive: true });
  }

  start(): void {
    const { count, seed } = this.#options;
    this.#done = Promise.all(
      Array.from({ length: count }, (_, index) => this.#live(new Chance(seed, HOLDERS + index))),
    );
  }

  /** Sends nothing new, and waits for the answers under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy();
  }

  /** Signatures that hold, and those that nobody has shown the generation of yet. */
  get signatures(): readonly [verified: number, unverified: number] {
    return [this.#verified, this.#unverified.length];
  }

  async #live(random: Chance): Promise<void> {
    while (!this.#isOver) {
      await pause(random.between(...THINK_MILLIS));
      if (!this.#isOver) await this.#act(random);
    }
  }

  async #act(random: Chance): Promise<unknown> {
    const known = this.#any(random);
    const drawn = random.below(100);
    if (known === undefined || (drawn < 8 && this.#nextKey <= MOST_KEYS))
      return this.#insist(random, this.creation(`key-${this.#nextKey++}`, random.below(suites.length)));
    const { keyId, generation } = known;
    if (drawn < 20) return this.#insist(random, this.renewal(keyId, generation, "refresh"));
    if (drawn < 30) return this.#insist(random, this.renewal(keyId, generation, "rotate"));
    if (drawn < 33 && generation > 1)
      return this.#insist(random, this.destruction(known, random.between(1, generation - 1)));
    if (drawn < 34) return this.#insist(random, this.destruction(known, generation, true));
    if (drawn < 42) return this.#mend(random, keyId);
    const kind: TokenKind = random.happens(40) ? random.pick<TokenKind>(["expired", "forbidden", "forged"]) : "good";
    return this.ask(this.#slot(random), this.signing(known, random.below(100_000)), kind);
  }

  #any(random: Chance): Known | undefined {
    const all = [...this.#known.values()];
    return all[random.below(Math.max(1, all.length))];
  }

  #slot(random: Chance): number {
    return 1 + random.below(this.#options.urls.length);
  }

  creation(keyId: string, suite: number): KeyMaking {
    const [algorithm, scheme] = suites[suite % suites.length] ?? suites[0];
    return creation(this.#options.commands, keyId, { algorithm, scheme, assetOwner: undefined });
  }

  renewal(keyId: string, base: number, act: "rotate" | "refresh"): KeyMaking {
    return renewal(this.#options.commands, act, { keyId, base, assetOwner: undefined });
  }

  destruction({ keyId, generation: base }: Pick<Known, "keyId" | "generation">, generation: number, isFinal = false) {
    return ending(this.#options.commands, { keyId, base, generation, isFinal });
  }

  signing({ keyId, scheme }: Pick<Known, "keyId" | "scheme">, number: number): Signing {
    const data = Buffer.from(`pay ${number} to ${keyId}`.padEnd(DIGEST_BYTES).slice(0, DIGEST_BYTES));
    return signing(this.#options.commands, { keyId, scheme, hash: undefined, data, generation: undefined });
  }

  repairing(keyId: string, helpers: ReadonlyArray<number>): KeyRequest {
    return repairing(this.#options.commands, { keyId, helpers });
  }

  /** Asks until the outcome is known, or time is up; for the most part. */
  async #insist(random: Chance, asked: KeyRequest): Promise<void> {
    for (;;) {
      const answer = await this.ask(this.#slot(random), asked);
      if (answer !== undefined && isSuccess(answer)) return;
      await pause(random.between(...TURNED_AWAY_MILLIS));
      const isOpen = answer === undefined || (answer._tag === "Rejected" && answer.rejection.outcomeUnknown);
      if (this.#isOver || !random.happens(isOpen ? 800 : 300)) return;
    }
  }

  /** Looks at a key through one peer; if that lacks its share, others help it. */
  async #mend(random: Chance, keyId: string): Promise<void> {
    const slot = this.#slot(random);
    const shown = await this.read(slot, keyId);
    if (shown?.health !== "SHARE_MISSING" || shown.status !== "ACTIVE") return;
    const holders: Array<number> = [];
    for (let other = 1; other <= this.#options.urls.length && holders.length < shown.threshold; other++)
      if (other !== slot && (await this.read(other, keyId))?.health === "OK") holders.push(other);
    if (holders.length === shown.threshold) await this.ask(slot, this.repairing(keyId, holders));
  }

  /** Reads a key through one peer; undefined where that shows none. */
  async read(slot: number, keyId: string, generation?: number): Promise<ShownKey | undefined> {
    const path = generation === undefined ? keyId : `${keyId}/generations/${generation}`;
    const { status, text } = await this.#get(slot, `${KEYS_PATH}/${path}`);
    this.answers.add(`read key ${status}`);
    const shown = status === 200 ? keyIn(text) : undefined;
    if (shown !== undefined) this.#learn(shown);
    else if (status === 200)
      this.#options.broken(new Violation("K14", `peer ${slot} showed key ${keyId}`, "the answer cannot be read"));
    return shown;
  }

  /** The texts of all keys that a peer lists; undefined where it does not. */
  async list(slot: number): Promise<ReadonlyArray<string> | undefined> {
    const { status, text } = await this.#get(slot, `${KEYS_PATH}?limit=100`);
    this.answers.add(`list keys ${status}`);
    if (status !== 200) return undefined;
    const { items }: { readonly items: ReadonlyArray<unknown> } = JSON.parse(text);
    return items.map((item) => JSON.stringify(item));
  }

  async #get(slot: number, path: string): Promise<Answered> {
    const from = microsNow();
    const token = await this.#options.tokens.of("good", BEARER);
    const answered = await call(this.#agent, this.#options.urls[slot - 1] ?? "", path, { token, body: undefined });
    this.#overdue(answered, slot, path, from);
    return answered;
  }

  #overdue({ isOverdue }: Answered, slot: number, what: string, from: number): void {
    if (isOverdue === true) this.#options.note({ _tag: "Unanswered", at: microsNow(), from, slot, what });
  }

  #learn(shown: ShownKey): void {
    const { keyId, scheme, generation, status } = shown;
    this.#shown.set(`${keyId} ${generation.generation}`, shown);
    const known = this.#known.get(keyId);
    const isDestroyed = status === "DESTROYED";
    if (known === undefined)
      this.#known.set(keyId, { keyId, scheme, generation: shown.currentGeneration, isDestroyed });
    else {
      known.generation = Math.max(known.generation, shown.currentGeneration);
      known.isDestroyed ||= isDestroyed;
    }
  }

  /** Sends one request and writes down its answer; undefined where there was none. */
  async ask(slot: number, asked: KeyRequest, kind: TokenKind = "good"): Promise<Answer | undefined> {
    const { broken, note, tokens, urls } = this.#options;
    const token = await tokens.of(kind, BEARER);
    const requestId = `k${this.#nextRequest++}`;
    const at = microsNow();
    const sent = { requestId, slot, said: asked, token: kind, at };
    note({ _tag: "Asked", at, asked: sent });
    const { method, path, rawBody: body } = asked.call;
    const answered = await call(this.#agent, urls[slot - 1] ?? "", path, { method, token, body });
    const { status, text } = answered;
    const what = asked.kind === "KEYGEN" ? asked.act : asked.kind.toLowerCase();
    this.#overdue(answered, slot, `${requestId}, ${what} ${asked.keyId}`, at);
    this.answers.add(`${what} ${status}`);
    const answer = keyAnswerOf(answered, asked);
    if (answer === undefined) {
      if (status >= 200 && status < 300)
        broken(new Violation("S14", `request ${requestId} was answered ${status}`, "the answer cannot be read"));
      return undefined;
    }
    note({ _tag: "Replied", at: microsNow(), asked: sent, answer, body: text });
    const shown = answer._tag === "KeyMade" || answer._tag === "KeyDestroyed" ? keyIn(text) : undefined;
    if (shown !== undefined) this.#learn(shown);
    if (answer._tag === "Signed" && asked.kind === "SIGN") {
      const { generation, signature } = answer;
      await this.#verify({ slot, requestId, asked, generation, signature });
    }
    return answer;
  }

  /** Looks up the key that a signature is of, where nobody was shown it before. */
  async #verify(given: Given): Promise<void> {
    const { asked, generation, requestId, signature, slot } = given;
    const { keyId } = asked;
    const shown = this.#shown.get(`${keyId} ${generation}`) ?? (await this.read(slot, keyId, generation));
    if (shown === undefined) this.#unverified.push(given);
    else if (verifiesAs(shown, messageOf(asked), signature)) this.#verified += 1;
    else
      this.#options.broken(
        new Violation(
          "K14",
          `peer ${slot} answered request ${requestId} with ${signature}`,
          `no outside verifier takes it for a signature of generation ${generation} of ${keyId}`,
        ),
      );
  }

  /** Verifies what could not be verified before. */
  async verifyRest(): Promise<void> {
    const rest = this.#unverified;
    this.#unverified = [];
    for (const given of rest) await this.#verify(given);
  }
}
