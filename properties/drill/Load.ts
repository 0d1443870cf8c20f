/**
 * Callers at all peers. Some register an approver, find it in a list, replace its metadata and read it; others read and
 * list what the first are done with. All do with refusals what these say. Whatever is answered must be described, and a
 * refusal must be of a kind that may be repeated.
 */
import type { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { errorKinds } from "../../server/http/Problems.ts";
import { type Answered, call } from "../chaos/HttpCall.ts";
import { undescribed } from "../http/Described.ts";
import { registration } from "../Registration.ts";
import { Failed, must, until } from "./Programs.ts";

const CHANGERS = 4;
const READERS = 2;
/** Between a reader's requests. */
const READER_MILLIS = 40;
/** Retry-After is obeyed up to this many seconds, so that callers are there again when a peer is. */
const LONGEST_WAIT_SECONDS = 2;
/** A request that is not answered for so long is given up. */
const PATIENCE_MILLIS = 60_000;
const PATH = "/v1/custody/approvers";

interface Request {
  readonly method: "GET" | "POST" | "PUT";
  readonly target: string;
  readonly body?: object;
  readonly ifMatch?: string;
}

/** Peers that can be called. */
interface Callable {
  readonly ids: ReadonlyArray<number>;
  readonly of: (id: number) => { readonly url: string };
  readonly token: string;
  readonly agent: Agent;
}

/** A final answer. */
interface Final extends Answered {
  /** Whether an earlier attempt may have done what was asked for. */
  readonly wasOpen: boolean;
}

export interface Counts {
  readonly registered: number;
  readonly replaced: number;
  readonly reads: number;
  readonly lists: number;
  /** Refusals of changes. */
  readonly refused: number;
}

interface Acknowledged {
  readonly revision: number;
  readonly text: string;
}

export class Load {
  readonly #machines: Callable;
  readonly #name: string;
  #counts: Counts = { registered: 0, replaced: 0, reads: 0, lists: 0, refused: 0 };
  /** How often each refusal came, and requests that no answer came to. */
  readonly refusals = new Map<string, number>();
  readonly #acknowledged = new Map<string, Acknowledged>();
  /** Refs whose changes are over. */
  readonly #unchanging: Array<string> = [];
  #isOver = false;
  #fault: unknown;
  readonly #callers: Array<Promise<void>> = [];

  /** @param name at the beginning of the approvers' ids, so that several loads can run after each other */
  constructor(machines: Callable, name: string) {
    this.#machines = machines;
    this.#name = name;
  }

  get counts(): Counts {
    return this.#counts;
  }

  start(): void {
    const changers = Array.from({ length: CHANGERS }, (_, index) => this.#change(index));
    const readers = Array.from({ length: READERS }, (_, index) => this.#look(index));
    for (const caller of [...changers, ...readers])
      this.#callers.push(
        caller.catch((fault: unknown) => {
          this.#fault ??= fault;
          this.#isOver = true;
        }),
      );
  }

  /** Waits until every caller has the answer it waits for. Throws what any of them stumbled over. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Waits until so much more has been done than has been by now. */
  async more(wanted: Partial<Counts>): Promise<void> {
    const before = this.#counts;
    const names = Object.keys(wanted) as ReadonlyArray<keyof Counts>;
    await until(`callers come further: ${JSON.stringify(wanted)}`, () => {
      if (this.#fault !== undefined) throw this.#fault;
      return names.every((name) => this.#counts[name] >= before[name] + (wanted[name] ?? 0));
    });
  }

  /** Reads everything that was ever acknowledged from every peer; everywhere it is as it was acknowledged last. */
  async verify(): Promise<number> {
    for (const [ref, { text }] of this.#acknowledged)
      for (const id of this.#machines.ids) {
        const read = await this.#ask(id, { method: "GET", target: `${PATH}/${ref}` });
        must(read.status === 200 && read.text === text, `peer ${id} lost ${ref}: ${read.status} ${read.text}`);
      }
    const lists = await Promise.all(this.#machines.ids.map((id) => this.#listed(id)));
    const [first = []] = lists;
    for (const list of lists) must(list.join(" ") === first.join(" "), "two peers list different approvers");
    const missing = [...this.#acknowledged.keys()].filter((ref) => !first.includes(ref));
    must(missing.length === 0, `no list has ${missing.join(", ")}`);
    return this.#acknowledged.size;
  }

  /** Every ref in the pages of one peer. */
  async #listed(id: number): Promise<ReadonlyArray<string>> {
    const refs: Array<string> = [];
    for (let cursor = ""; ; ) {
      const target = `${PATH}?limit=50${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { status, text } = await this.#ask(id, { method: "GET", target });
      must(status === 200, `peer ${id} does not list: ${status} ${text}`);
      const page: { items: Array<{ ref: string }>; nextCursor: string | null } = JSON.parse(text);
      refs.push(...page.items.map(({ ref }) => ref));
      if (page.nextCursor === null) return refs;
      cursor = page.nextCursor;
    }
  }

  #did(what: keyof Counts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 };
  }

  async #change(index: number): Promise<void> {
    for (let round = 0; !this.#isOver; round++) {
      const first = (index + round) % this.#machines.ids.length;
      const id = `${this.#name}-${index}-${round}`;
      const made = await this.#final(first, { method: "POST", target: PATH, body: registration(id) });
      must(
        made.status === 201 || (made.status === 200 && made.wasOpen),
        `a registration was answered ${made.status}: ${made.text}`,
      );
      const { ref, metadataRevision: revision } = JSON.parse(made.text);
      this.#acknowledged.set(ref, { revision, text: made.text });
      this.#did("registered");
      await this.#list(first + 1, ref);
      await this.#replace(first, ref, `round-${round}`);
      await this.#read(first + 2, ref);
      this.#unchanging.push(ref);
    }
  }

  async #look(index: number): Promise<void> {
    for (let round = index; !this.#isOver; round += READERS) {
      const ref = this.#unchanging[round % Math.max(1, this.#unchanging.length)];
      if (ref !== undefined) {
        await this.#read(round, ref);
        await this.#list(round, ref);
      }
      await sleep(READER_MILLIS);
    }
  }

  async #list(at: number, ref: string): Promise<void> {
    const id = ref.slice(0, ref.indexOf("@"));
    const { status, text } = await this.#final(at, { method: "GET", target: `${PATH}?id=${id}` });
    must(status === 200 && JSON.parse(text).items[0]?.ref === ref, `a list lacks ${ref}: ${status} ${text}`);
    this.#did("lists");
  }

  async #read(at: number, ref: string): Promise<void> {
    const { status, text } = await this.#final(at, { method: "GET", target: `${PATH}/${ref}` });
    const known = this.#acknowledged.get(ref);
    must(status === 200 && text === known?.text, `${ref} reads otherwise than acknowledged: ${status} ${text}`);
    this.#did("reads");
  }

  async #replace(at: number, ref: string, team: string): Promise<void> {
    const { revision } = this.#acknowledged.get(ref) ?? { revision: 1 };
    const body = { metadata: { team } };
    const target = `${PATH}/${ref}/metadata`;
    let answer = await this.#final(at, { method: "PUT", target, body, ifMatch: `"${revision}"` });
    // Nobody else replaces it: it was this caller's own earlier attempt, as reading it tells.
    if (answer.status === 412 && answer.wasOpen)
      answer = await this.#final(at, { method: "GET", target: `${PATH}/${ref}` });
    must(answer.status === 200, `a replacement was answered ${answer.status}: ${answer.text}`);
    const now = JSON.parse(answer.text);
    must(now.metadataRevision === revision + 1 && now.metadata.team === team, `${ref} was changed by nobody known`);
    this.#acknowledged.set(ref, { revision: revision + 1, text: answer.text });
    this.#did("replaced");
  }

  /** Asks peer after peer until the answer is final, waiting as told where none of them gives one. */
  async #final(at: number, request: Request): Promise<Final> {
    const { ids } = this.#machines;
    const end = performance.now() + PATIENCE_MILLIS;
    let wasOpen = false;
    let last = "";
    for (let attempt = 0; performance.now() < end; attempt++) {
      const answer = await this.#ask(ids[(at + attempt) % ids.length] ?? 1, request);
      if (answer.status !== 0 && answer.status !== 503 && answer.status !== 429) return { ...answer, wasOpen };
      const seconds = this.#refused(request, answer);
      wasOpen ||= answer.status === 0 || JSON.parse(answer.text).outcomeUnknown === true;
      last = `${answer.status} ${answer.text}`;
      if (attempt % ids.length === ids.length - 1) await sleep(1_000 * Math.min(seconds, LONGEST_WAIT_SECONDS));
    }
    throw new Failed(`${request.method} ${request.target} got no final answer; the last one was ${last}`);
  }

  /** Takes note of a refusal, which must be one to be repeated; returns after how many seconds. */
  #refused({ method }: Request, { status, text, headers }: Answered): number {
    const code: keyof typeof errorKinds | undefined = status === 0 ? undefined : JSON.parse(text).code;
    const said = code ?? "no answer";
    this.refusals.set(said, (this.refusals.get(said) ?? 0) + 1);
    if (method !== "GET") this.#did("refused");
    if (code === undefined) return 0.1;
    must(
      errorKinds[code].retryable && JSON.parse(text).retryable === true,
      `${code} is not one to be repeated: ${text}`,
    );
    return Number(headers?.["retry-after"] ?? 1);
  }

  /** One request to one peer. */
  async #ask(id: number, { method, target, body, ifMatch }: Request): Promise<Answered> {
    const answer = await call(this.#machines.agent, this.#machines.of(id).url, target, {
      method,
      token: this.#machines.token,
      body: body && Buffer.from(JSON.stringify(body)),
      headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
    });
    const { status, text, headers = {} } = answer;
    must(answer.isOverdue !== true, `peer ${id} was asked and did not answer: ${method} ${target}`);
    if (status === 0) return answer;
    const told = new Headers(
      Object.entries(headers).flatMap(
        ([name, value]): Array<[string, string]> => (typeof value === "string" ? [[name, value]] : []),
      ),
    );
    const wrong = undescribed({ method, target, status, headers: told, text });
    must(wrong.length === 0, `${method} ${target}: an answer that is not in the contract: ${wrong.join("; ")}`);
    return answer;
  }
}
