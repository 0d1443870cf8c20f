/** What became of an estate is judged: peers that hand it on as they must pass, and each that does not is found. */
import { describe, expect, it } from "vitest";
import type { Answer } from "../../core/Action.ts";
import { rejection, type RejectionCode } from "../../core/base/Rejection.ts";
import { recordJson } from "../../server/http/ApproverRecord.ts";
import type { Rows } from "../../core/Tables.ts";
import { Prng } from "../../sim/base/Prng.ts";
import { realCryptography } from "../../sim/crypto/Cryptography.ts";
import { Commands } from "../../sim/requests/Commands.ts";
import type { Finish } from "../../sim/requests/EnrollmentRequests.ts";
import type { Estate } from "./Estate.ts";
import { estateOf, listed } from "./Estate.ts";
import { EstateJudge, type EstateJudgeOptions } from "./EstateJudge.ts";
import type { Answered } from "./HttpCall.ts";

const commands = new Commands(realCryptography(new Prng(1)));
const command = commands.command("alice", 1, "a");
const REF = `alice@${"0".repeat(64)}`;

const approver = (revision: number): Rows["approvers"] => ({
  id: "alice",
  ref: REF,
  descriptor: command.descriptor,
  keyIdentity: "0".repeat(64) as Rows["approvers"]["keyIdentity"],
  metadata: [["team", `of-revision-${revision}`]],
  revision,
  createdAt: 1,
  updatedAt: revision,
});
const textOf = (revision: number): string => recordJson({ approver: approver(revision), observations: undefined });

const FUTURE = Number.MAX_SAFE_INTEGER;
const finishOf = (id: string, deadline = FUTURE): Finish =>
  // Nothing else of it is looked at here.
  ({ kind: "FINISH", id, deadline }) as Finish;

const estate: Estate = {
  records: new Map([[REF, { revision: 3, text: textOf(3) }]]),
  done: [finishOf("used")],
  open: [finishOf("open")],
};

const registered = (created: boolean): Answer => ({
  _tag: "Registered",
  created,
  approver: approver(1),
  observations: undefined,
});
const refused = (code: RejectionCode): Answer => ({ _tag: "Rejected", rejection: rejection(code, "", "") });

type Callers = EstateJudgeOptions["callers"];
type Said = Parameters<Callers["ask"]>[1];

interface Peers {
  /** The records that a peer shows. */
  readonly shows: (slot: number) => string | undefined;
  readonly lists: (slot: number) => string | undefined;
  readonly used: (slot: number) => Answer;
  readonly open: (slot: number) => Answer;
  readonly fresh: (slot: number) => Answer;
  readonly anew: (slot: number) => Answer;
}

const good: Peers = {
  shows: () => textOf(3),
  lists: () => textOf(3),
  used: () => registered(false),
  open: (slot) => refused(slot === 1 ? "REGISTRATION_EXPIRED" : "REGISTRATION_NOT_FOUND"),
  fresh: () => registered(true),
  anew: () => registered(true),
};

const judged = async (changes: Partial<Peers>, of: Estate = estate): Promise<string | undefined> => {
  const peers = { ...good, ...changes };
  const get = async (slot: number, path: string): Promise<Answered> => {
    if (!path.includes("?")) {
      const text = peers.shows(slot);
      return text === undefined ? { status: 404, text: "" } : { status: 200, text };
    }
    const item = peers.lists(slot);
    return { status: 200, text: `{"items":[${item ?? ""}],"nextCursor":null}` };
  };
  const answer = (slot: number, said: Said): Answer => {
    if (said.kind === "REGISTER") return peers.fresh(slot);
    const { id } = said as Finish;
    return id === "used" ? peers.used(slot) : id === "open" ? peers.open(slot) : peers.anew(slot);
  };
  const callers: Callers = {
    get,
    ask: async (slot, said) => answer(slot, said),
    invited: async () => finishOf("anew"),
    fresh: () => command,
  };
  const judge = new EstateJudge({ slots: [1, 2, 3], estate: of, callers, say: () => undefined, patienceMillis: 0 });
  return (await judge.judge())?.id;
};

const at =
  <A>(slot: number, of: A, other: A) =>
  (each: number): A =>
    each === slot ? of : other;

describe("the judge of an estate", () => {
  it("finds nothing where all of it was handed on, or changed since by a caller", async () => {
    expect(await judged({})).toBeUndefined();
    expect(await judged({ shows: () => textOf(4), lists: () => textOf(5) })).toBeUndefined();
  });

  it.each<readonly [string, Partial<Peers>, string]>([
    ["an approver that one peer does not show", { shows: at(3, undefined, textOf(3)) }, "S12"],
    ["one that it does not list", { lists: at(2, undefined, textOf(3)) }, "S12"],
    ["an older revision", { shows: at(2, textOf(2), textOf(3)) }, "S12"],
    ["another byte", { shows: at(3, textOf(3).replace("of-revision-3", "of-revision-4"), textOf(3)) }, "S12"],
    ["the same in a list", { lists: at(1, textOf(3).replace('"updatedAt":3', '"updatedAt":1'), textOf(3)) }, "S12"],
    ["a used invitation that is refused", { used: () => refused("REGISTRATION_NOT_FOUND") }, "S14"],
    ["one that enrolls again", { used: () => registered(true) }, "S14"],
    ["one that has expired before its deadline", { used: () => refused("REGISTRATION_EXPIRED") }, "S14"],
    ["an open invitation that lives on", { open: at(2, registered(true), refused("REGISTRATION_EXPIRED")) }, "S20"],
    ["one that its own instance has forgotten", { open: () => refused("REGISTRATION_NOT_FOUND") }, "S20"],
    ["a registration that was there before it was sent", { fresh: () => registered(false) }, "S14"],
    ["a peer that takes no registration", { fresh: at(3, refused("ACCESS_DENIED"), registered(true)) }, "L6"],
    ["a peer that takes no enrollment", { anew: at(2, refused("SESSION_CAPACITY"), registered(true)) }, "L6"],
    ["a peer that never answers a holder", { open: () => refused("RECOVERING") }, "L6"],
  ])("finds %s", async (_what, changes, id) => {
    expect(await judged(changes)).toBe(id);
  });

  it("takes a late answer to a late repetition", async () => {
    const late = { ...estate, done: [finishOf("used", 1)] };
    expect(await judged({ used: () => refused("REGISTRATION_EXPIRED") }, late)).toBeUndefined();
    const open = rejection("REGISTRATION_EXPIRED", "", "", { outcomeUnknown: true });
    expect(await judged({ used: () => ({ _tag: "Rejected", rejection: open }) }, late)).toBeUndefined();
    expect(await judged({ used: () => refused("REGISTRATION_COMPLETED") }, late)).toBe("S14");
    const over = { ...estate, open: [finishOf("open", 1)] };
    expect(await judged({ open: () => refused("REGISTRATION_EXPIRED") }, over)).toBeUndefined();
    expect(await judged({ open: at(2, registered(true), refused("REGISTRATION_EXPIRED")) }, over)).toBe("S20");
  });
});

describe("an estate", () => {
  it("grows with the approvers asked for, up to what a service has room for", () => {
    expect(estateOf(0)).toEqual({ approvers: 40, replaced: 4, done: 3, open: 1 });
    expect(estateOf(10_000)).toEqual({ approvers: 10_000, replaced: 1_000, done: 840, open: 160 });
    expect(estateOf(100_000)).toMatchObject({ approvers: 100_000, done: 840, open: 160 });
  });

  it("is listed page by page, or not at all", async () => {
    const pages = [`{"items":[${textOf(3)}],"nextCursor":"next"}`, '{"items":[],"nextCursor":null}'];
    const asked: Array<string> = [];
    const get = async (path: string): Promise<Answered> => {
      asked.push(path);
      return { status: 200, text: pages[asked.length - 1] ?? "" };
    };
    expect(await listed(get)).toEqual(estate.records);
    expect(asked.at(-1)).toContain("&cursor=next");
    expect(await listed(get)).toBeUndefined();
  });
});
