/**
 * What has become of an estate once its instance is promoted (contract 3.1, 10.6): every peer shows every record, to the
 * byte; a used invitation repeats its answer, and an open one is over; tokens from before go on, and each peer takes its
 * first changes.
 */
import type { Answer } from "../../core/Action.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { SOURCE } from "../../server/dev/ClusterFile.ts";
import type { Finish } from "../../sim/requests/EnrollmentRequests.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { shownIn } from "./AnswerText.ts";
import type { Callers } from "./Callers.ts";
import { type Estate, forEachAtOnce, listed } from "./Estate.ts";
import type { Kept } from "./Promised.ts";

/** What a peer does not answer for good within this, it does not answer. */
const PATIENCE_MILLIS = 60_000;
const AGAIN_MILLIS = 250;

/** So an open invitation is over: its own instance still knows it, and targets have never heard of it. */
const isOver = { source: "REGISTRATION_EXPIRED", target: "REGISTRATION_NOT_FOUND" } as const;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

export interface EstateJudgeOptions {
  readonly slots: ReadonlyArray<number>;
  readonly estate: Estate;
  readonly callers: Pick<Callers, "get" | "ask" | "invited" | "fresh">;
  readonly say: (line: string) => void;
  /** How long a peer may have no answer. */
  readonly patienceMillis?: number;
}

export class EstateJudge {
  readonly #options: EstateJudgeOptions;
  #found: Violation | undefined;

  constructor(options: EstateJudgeOptions) {
    this.#options = options;
  }

  /** The first thing that is not as it must be; undefined where all is. */
  async judge(): Promise<Violation | undefined> {
    const { estate, say, slots } = this.#options;
    for (const slot of slots) await this.#takesChanges(slot);
    const { done, open, records } = estate;
    await Promise.all(slots.map((slot) => this.#judgePeer(slot)));
    say(
      `judged at ${slots.length} peers: ${records.size} approvers, ${done.length} invitations used and ${open.length} open before`,
    );
    return this.#found;
  }

  /** What one peer has of it; others are judged meanwhile. */
  async #judgePeer(slot: number): Promise<void> {
    const { estate, say } = this.#options;
    const { done, open, records } = estate;
    await this.#lists(slot);
    await forEachAtOnce([...records], ([ref, kept]) => this.#reads(slot, ref, kept));
    if (this.#found === undefined) say(`peer ${slot} shows and lists ${records.size} approvers as before`);
    await forEachAtOnce(done, (finish) => this.#repeats(slot, finish));
    await forEachAtOnce(open, (finish) => this.#ends(slot, finish));
  }

  /** The first changes of the new topology through a peer. */
  async #takesChanges(slot: number): Promise<void> {
    const { callers } = this.#options;
    // After an answer that says nothing certain a fresh one is sent, so that success is a creation.
    const created = await this.#certain(`peer ${slot} registers`, async () => {
      const answer = await callers.ask(slot, callers.fresh(), "good");
      return answer?._tag === "Registered" ? answer.created : undefined;
    });
    if (created === false) this.#wrong("S14", "a fresh registration was sent", `peer ${slot} had it already`);
    const id = `invited-anew-${slot}`;
    await this.#certain(`peer ${slot} enrolls`, async () => {
      const finish = await callers.invited(slot, { id, registrar: "registrar-anew", draw: slot });
      const answer = finish && (await callers.ask(slot, finish, "good", id));
      return answer?._tag === "Registered" ? true : undefined;
    });
  }

  async #lists(slot: number): Promise<void> {
    const { callers, estate } = this.#options;
    const all = await this.#certain(`peer ${slot} lists`, () => listed((path) => callers.get(slot, path, "list")));
    if (all !== undefined) for (const [ref, kept] of estate.records) this.#compare(slot, ref, kept, all.get(ref));
  }

  async #reads(slot: number, ref: string, kept: Kept): Promise<void> {
    const path = `${REGISTER_PATH}/${encodeURIComponent(ref)}`;
    const answered = await this.#certain(`peer ${slot} shows ${ref}`, async () => {
      const { status, text } = await this.#options.callers.get(slot, path, "read");
      return status === 200 || status === 404 ? { status, text } : undefined;
    });
    if (answered === undefined) return;
    const revision = shownIn(answered.text)?.approver.revision;
    this.#compare(slot, ref, kept, revision === undefined ? undefined : { revision, text: answered.text });
  }

  /** Callers may have replaced it since; what they were shown then is held against what was stored (S12). */
  #compare(slot: number, ref: string, kept: Kept, now: Kept | undefined): void {
    if (now !== undefined && (now.revision > kept.revision || now.text === kept.text)) return;
    const shown = now === undefined ? "nothing" : now.text;
    this.#wrong("S12", `the instance that was promoted showed ${kept.text}`, `peer ${slot} shows ${shown} for ${ref}`);
  }

  /** The answer comes once more, until the invitation's deadline. */
  async #repeats(slot: number, finish: Finish): Promise<void> {
    const wasInTime = Date.now() < finish.deadline;
    const told = await this.#answered(slot, finish);
    if (told === "Repeated" || told === undefined) return;
    const isLate = told === "REGISTRATION_EXPIRED" && (!wasInTime || Date.now() > finish.deadline);
    if (!isLate) this.#wrong("S14", `an invitation of ${finish.id} was used`, `peer ${slot} answers that ${told}`);
  }

  async #ends(slot: number, finish: Finish): Promise<void> {
    const told = await this.#answered(slot, finish);
    const wanted = slot === SOURCE ? isOver.source : isOver.target;
    // Past its own deadline a target may have that from the source.
    const isLate = told === isOver.source && Date.now() > finish.deadline;
    if (told !== undefined && told !== wanted && !isLate)
      this.#wrong("S20", `the epoch has ended in which ${finish.id} was invited`, `peer ${slot} answers with ${told}`);
  }

  #answered(slot: number, finish: Finish): Promise<string | undefined> {
    return this.#certain(`peer ${slot} answers the holder of ${finish.id}`, async () => {
      const answer = await this.#options.callers.ask(slot, finish, "good", `holder-of-${finish.id}`);
      return answer && toldBy(answer);
    });
  }

  /** Asks until there is a certain answer; undefined where there is none in time, or something is wrong already. */
  async #certain<A>(what: string, ask: () => Promise<A | undefined>): Promise<A | undefined> {
    const until = performance.now() + (this.#options.patienceMillis ?? PATIENCE_MILLIS);
    while (this.#found === undefined) {
      const found = await ask();
      if (found !== undefined) return found;
      if (performance.now() > until) this.#wrong("L6", "the promotion is done", `it is not so that ${what}`);
      else await pause(AGAIN_MILLIS);
    }
    return undefined;
  }

  #wrong(id: string, first: string, second: string): void {
    this.#found ??= new Violation(id, first, second);
  }
}

/**
 * What a holder was told for good; undefined for anything else. A late repetition is refused with its outcome left open:
 * the approver of the first one may stand, and does.
 */
const toldBy = (answer: Answer): string | undefined => {
  if (answer._tag === "Registered") return answer.created ? "Created" : "Repeated";
  if (answer._tag !== "Rejected") return answer._tag;
  const { code } = answer.rejection;
  return code.startsWith("REGISTRATION_") ? code : undefined;
};
