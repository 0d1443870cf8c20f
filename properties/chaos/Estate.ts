/**
 * What an instance that is alone has when it is promoted, made in bulk beforehand: approvers, many of them replaced more
 * than once, and enrollments, some done and some open.
 */
import type { Answer } from "../../core/Action.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { SOURCE } from "../../server/dev/ClusterFile.ts";
import type { Finish } from "../../sim/requests/EnrollmentRequests.ts";
import { shownIn } from "./AnswerText.ts";
import type { Callers } from "./Callers.ts";
import { CannotStart } from "./ClusterOptions.ts";
import type { Answered } from "./HttpCall.ts";
import { pageIn } from "./Lists.ts";
import type { Kept } from "./Promised.ts";

/** Requests at once. */
const AT_ONCE = 64;
/** Enrollments that are under way at once: an invitation whose answer is lost counts for its registrar all the same. */
const ENROLLING = 16;
const PAGE = 200;
const AGAIN_MILLIS = 200;
/** An invitation may have to wait for another one's deadline. */
const PATIENCE_MILLIS = 120_000;
const LEAST_APPROVERS = 40;
/** One in so many approvers is replaced, and for so many there is an enrollment. */
const SHARE = 10;
const MOST_ENROLLMENTS = 1_000;
/** One enrollment in so many stays open; callers need room for theirs beside these (contract 8). */
const OPEN_SHARE = 5;
const MOST_OPEN = 160;
/** Replacements of one approver, at most. */
const MOST_REPLACEMENTS = 5;
/** How many of them are surely taken while none has expired (contract 8: 256, used ones too). */
const AT_ONE_TIME = 200;
/** Sessions that a registrar has open at once. */
const OPEN_PER_REGISTRAR = 2;
/** The numbers of the draws. */
const DRAWS = 30_000;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

/** How much is made, by the approvers that are asked for. */
export const estateOf = (rows: number) => {
  const approvers = Math.max(rows, LEAST_APPROVERS);
  const enrollments = Math.min(MOST_ENROLLMENTS, Math.floor(approvers / SHARE));
  const open = Math.min(MOST_OPEN, Math.ceil(enrollments / OPEN_SHARE));
  return { approvers, replaced: Math.floor(approvers / SHARE), done: enrollments - open, open };
};

/** Whether its enrollments are so many that some must expire before others can be invited. */
export const needsExpiry = (rows: number): boolean => {
  const { done, open } = estateOf(rows);
  return done + open > AT_ONE_TIME;
};

/** Does something for each of a list, so many at once. */
export const forEachAtOnce = async <A>(
  all: ReadonlyArray<A>,
  one: (each: A, index: number) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> => {
  const left = all.entries();
  const some = async (): Promise<void> => {
    for (const [index, each] of left) await one(each, index);
  };
  await Promise.all(Array.from({ length: atOnce }, some));
};

/** All records that a peer lists, by ref; undefined where a page is refused or cannot be read. */
export const listed = async (
  get: (path: string) => Promise<Answered>,
): Promise<ReadonlyMap<string, Kept> | undefined> => {
  const found = new Map<string, Kept>();
  for (let cursor = ""; ; ) {
    const { status, text } = await get(`${REGISTER_PATH}?limit=${PAGE}${cursor}`);
    const page = status === 200 ? pageIn(text) : undefined;
    if (page === undefined) return undefined;
    for (const each of page.texts) {
      const shown = shownIn(each)?.approver;
      if (shown === undefined) return undefined;
      found.set(shown.ref, { revision: shown.revision, text: each });
    }
    if (page.next === undefined) return found;
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
};

export interface Estate {
  /** Every record, as the instance listed it, by ref. */
  readonly records: ReadonlyMap<string, Kept>;
  /** Responses that have enrolled an approver. */
  readonly done: ReadonlyArray<Finish>;
  /** Honest responses to invitations that nobody has answered. */
  readonly open: ReadonlyArray<Finish>;
}

type Maker = Pick<Callers, "fill" | "get" | "ask" | "invited" | "commands">;

/** Again and again, until something is there. */
const certain = async <A>(what: string, ask: () => Promise<A | undefined>): Promise<A> => {
  for (const until = performance.now() + PATIENCE_MILLIS; performance.now() < until; await pause(AGAIN_MILLIS)) {
    const found = await ask();
    if (found !== undefined) return found;
  }
  throw new CannotStart(`the instance that is alone does not give ${what}`);
};

const only = <T extends Answer["_tag"]>(tag: T, answer: Answer | undefined): Answer | undefined =>
  answer?._tag === tag ? answer : undefined;

/** Makes it, at the one peer there is. Rejects with {@link CannotStart}. */
export const makeEstate = async (callers: Maker, rows: number): Promise<Estate> => {
  const order = estateOf(rows);
  await callers.fill(order.approvers, AT_ONCE);
  const look = () => certain("a list", () => listed((path) => callers.get(SOURCE, path, "list")));
  const first = [...(await look())].slice(0, order.replaced);
  await forEachAtOnce(first, async ([ref], index) => {
    for (let revision = 1; revision <= 1 + (index % MOST_REPLACEMENTS); revision += 1) {
      const replacement = callers.commands.replacement(ref, `"${revision}"`, `team-of-revision-${revision}`);
      await certain("a replacement", async () => only("Replaced", await callers.ask(SOURCE, replacement, "good")));
    }
  });
  const invited = (name: string, number: number): Promise<Finish> =>
    certain("an invitation", () =>
      callers.invited(SOURCE, {
        id: `${name}-${number}`,
        registrar: `registrar-of-${name}-${Math.floor(number / OPEN_PER_REGISTRAR)}`,
        draw: DRAWS + number,
      }),
    );
  const done: Array<Finish> = [];
  const enroll = async (_: unknown, index: number): Promise<void> => {
    const finish = await invited("enrolled", index);
    await certain("an enrollment", async () =>
      only("Registered", await callers.ask(SOURCE, finish, "good", `holder-of-enrolled-${index}`)),
    );
    done.push(finish);
  };
  await forEachAtOnce(Array.from({ length: order.done }), enroll, ENROLLING);
  const open: Array<Finish> = [];
  const invite = async (_: unknown, index: number): Promise<void> => void open.push(await invited("invited", index));
  await forEachAtOnce(Array.from({ length: order.open }), invite, ENROLLING);
  return { records: await look(), done, open };
};
