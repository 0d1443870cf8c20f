/** The member whose share is missing: it asks helpers, adds up what they tell it, and believes only its verifying share. */
import { Either } from "effect";
import { withEntry } from "../../base/Copies.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import { type MemberFault, type Rejection, rejection } from "../../base/Rejection.ts";
import { auditOfKey } from "../../protocol/Audit.ts";
import { requestLineOf } from "../../protocol/Forward.ts";
import type { Served } from "../../protocol/Module.ts";
import { notReadyReason } from "../../protocol/Readiness.ts";
import type { Step } from "../../protocol/Step.ts";
import { freshNonce } from "../../protocol/Nonces.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { crowded } from "../../protocol/Unavailable.ts";
import { Secret } from "../../threshold/Secret.ts";
import { type BoxKey, suiteOf } from "../../threshold/Suite.ts";
import type { KeyAnswer } from "../keys/Answers.ts";
import { groupKeyOf, heldShare, isSolo, shareIndexOf, sharePlace, wholeAt } from "../keys/HeldShare.ts";
import { keyIdIn } from "../keys/KeyId.ts";
import type { Generation } from "../keys/KeyRecord.ts";
import { keyDestroyed, keyNotFound } from "../keys/KeyRefusals.ts";
import { generationKey, keyRows, keyTables } from "../keys/Tables.ts";
import { askedOf, isIdle, isKept, rootOf, wantedHere } from "./Helper.ts";
import type { RepairMessageOf, Wanted } from "./RepairMessages.ts";
import { readHelpers } from "./RepairRequest.ts";
import { type Repair, repairs, type Session } from "./RepairState.ts";
import { openedFrom } from "./Secrets.ts";

export const REPAIR_TIMER = "Repair.asking";
const AGAIN_MILLIS = 250;
/**
 * A helper lets a session go in time, and another one would not: asked again, the first would have another key, and could
 * not read what it was told before. So a session that is to last is begun anew at all helpers sooner than that.
 */
const SESSION_MILLIS = Limits.repairMillis - 4 * AGAIN_MILLIS;
/** How often a repair begins anew because a helper cannot go on: it may be one that says so whatever it is told. */
const GIVEN_UP_MOST = 3;
/** Of an audit row. */
const DETAIL_CHARACTERS = 512;

const HINT = "Repeat the request, with the same helpers or others: each repair begins anew.";

const failed = (detail: string, members: ReadonlyArray<MemberFault> = []): Rejection =>
  rejection("REPAIR_FAILED", detail, HINT, { members });

const reject = (step: Step, requestId: string, rejected: Rejection): void =>
  step.reply(requestId, { _tag: "Rejected", rejection: rejected });

const allNeeded = rejection(
  "REPAIR_IMPOSSIBLE",
  "As many members sign as there are, so without the lost share no others can make it.",
  "Restore this peer from its backup.",
);

/** What stands in the way of a repair at this peer, whoever helps. */
const preconditionFault = (step: Step): Rejection | undefined => {
  const { threshold, members } = step.membership.topology;
  if (threshold >= members.length) return allNeeded;
  const reason = notReadyReason(step);
  if (reason !== undefined)
    return failed(`This peer cannot be repaired now: ${reason}.`, [{ peerId: step.self, reason }]);
  return undefined;
};

/** An operator asks for the shares of one key. */
export const acceptRepair = (step: Step, { requestId, call, token, claims }: Served): void => {
  const keyId = keyIdIn(call.path, "repair") ?? "";
  const helpers = readHelpers(step.membership, step.self, call.rawBody);
  const fault = preconditionFault(step) ?? (Either.isLeft(helpers) ? helpers.left : undefined);
  if (fault !== undefined || Either.isLeft(helpers)) return reject(step, requestId, fault ?? allNeeded);
  const key = keyRows(step.view).get("custodyKeys", keyId);
  if (key?.status !== "ACTIVE") return reject(step, requestId, key === undefined ? keyNotFound : keyDestroyed);
  if (step.slice(repairs).repairs.size > 0)
    return reject(step, requestId, crowded("Another repair is under way at this peer.", undefined));
  const evidence = { path: call.path, rawBody: call.rawBody, token };
  const line = requestLineOf(call, step.context.crypto);
  const asked = { requestId, keyId, claims, line, helpers: helpers.right, evidence, arrivedAt: step.elapsed };
  begin(step, { ...asked, session: undefined, givenUp: 0, isSingly: false, repaired: [], lost: new Map() });
};

/** The generations of a key that somebody keeps secrets of, ascending. */
const allKept = (step: Step, keyId: string): ReadonlyArray<Generation> => {
  const rows = keyRows(step.view);
  const last = rows.get("custodyKeys", keyId)?.generation ?? 0;
  const kept: Array<Generation> = [];
  for (let no = 1; no <= last; no += 1) {
    const generation = rows.get("generations", generationKey(keyId, no));
    if (generation !== undefined && isKept(generation)) kept.push(generation);
  }
  return kept;
};

/** Those that members keep shares of. */
const keptGenerations = (step: Step, keyId: string): ReadonlyArray<Generation> =>
  allKept(step, keyId).filter((each) => !isSolo(each));

/** Those that were whole here since before a promotion, and are gone: nobody else has any part of them. */
const lostWhole = (step: Step, keyId: string): ReadonlyArray<Generation> =>
  wholeAt(step.membership) === step.self
    ? allKept(step, keyId).filter((each) => isSolo(each) && isMissing(step, each))
    : [];

const isMissing = (step: Step, generation: Generation): boolean => {
  const share = heldShare(step.context, step.membership, step.self, generation);
  share?.wipe();
  return share === undefined;
};

/**
 * Asks for those that are missing, as many as one session takes or the newest alone; answers when none is. While a change
 * is undecided here it waits: what is repaired is that of one cutoff (contract 10.5).
 */
const begin = (step: Step, repair: Repair): void => {
  const { context, self } = step;
  const kept = keptGenerations(step, repair.keyId);
  const all = kept.filter((each) => !repair.lost.has(each.generation) && isMissing(step, each));
  const missing = repair.isSingly ? all.slice(-1) : all.slice(0, Limits.repairedGenerations);
  if (missing.length === 0) return answer(step, repair, kept);
  if (!isIdle(step)) return keep(step, repair);
  const { crypto, entropy } = context;
  const sessionId = freshNonce(step, `repair session ${repair.requestId}`);
  const boxSeed = new Secret(crypto.derive(entropy, `repair box ${self} ${sessionId}`));
  const open: Session["open"] = {
    _tag: "Repair.Open",
    sessionId,
    evidence: repair.evidence,
    generations: missing.map(({ generation, transcript }) => ({ generation, transcript })),
    boxKey: context.keyCrypto.boxes.keyOf(boxSeed),
    registryRoot: rootOf(step),
  };
  const times = { begunAt: step.elapsed, askedAt: step.elapsed };
  const session = { open, boxSeed, ...times, sums: new Map(), delays: new Map(), isOver: false };
  keep(step, { ...repair, session });
  step.sendFlushed(open, repair.helpers);
};

const keep = (step: Step, repair: Repair): void => void step.editIn(repairs, "repairs").set(repair.requestId, repair);

/** Generations for people, the newest first. */
const named = (generations: ReadonlyArray<number>): string => {
  const newestFirst = generations.toSorted((one, other) => other - one);
  const more = newestFirst.length > Limits.listedFaults ? " and older ones" : "";
  return `${newestFirst.slice(0, Limits.listedFaults).join(", ")}${more}`;
};

const onlyInBackup = (self: PeerId, generations: ReadonlyArray<Generation>, outcomeUnknown: boolean): Rejection =>
  rejection(
    "REPAIR_IMPOSSIBLE",
    `Whole at this peer since before the promotion, and lost, by generation: ${named(generations.map(({ generation }) => generation))}; all others are there.`,
    "No other member has a part of it, only this peer's own backup: put that back, or rotate the key to sign with another.",
    { members: [{ peerId: self, reason: SHARE_MISSING }], outcomeUnknown },
  );

const answer = (
  step: Step,
  { requestId, keyId, lost, repaired: stored }: Pick<Repair, "requestId" | "keyId" | "lost" | "repaired">,
  kept: ReadonlyArray<Generation>,
): void => {
  step.editIn(repairs, "repairs").delete(requestId);
  // What was destroyed meanwhile is not lost: nobody has it.
  const stillLost = [...lost].filter(([no]) => kept.some(({ generation }) => generation === no));
  if (stillLost.length > 0) {
    const members = [...new Set(stillLost.map(([, peerId]) => peerId))].map((peerId) => ({
      peerId,
      reason: SHARE_MISSING,
    }));
    const detail = `Still lost, by generation: ${named(stillLost.map(([no]) => no))}; all others are repaired.`;
    return reject(step, requestId, { ...failed(detail, members), outcomeUnknown: stored.length > 0 });
  }
  const whole = lostWhole(step, keyId);
  if (whole.length > 0) return reject(step, requestId, onlyInBackup(step.self, whole, stored.length > 0));
  const repaired: KeyAnswer = { _tag: "Repaired", generations: kept.map(({ generation }) => generation) };
  step.reply(requestId, repaired);
};

const end = (step: Step, { requestId }: Repair, rejected: Rejection): void => {
  step.editIn(repairs, "repairs").delete(requestId);
  reject(step, requestId, rejected);
};

/** What was stored before stays, and that it was not done is not certain (contract.md 7). */
const fail = (step: Step, repair: Repair, why: string, members: ReadonlyArray<MemberFault> = []): void => {
  const { repaired } = repair;
  const before = repaired.length === 0 ? "" : ` Repaired before that, by generation: ${named(repaired)}.`;
  end(step, repair, { ...failed(`${why}${before}`, members), outcomeUnknown: repaired.length > 0 });
};

/** The repair that this helper's word is about, if that is one of the session under way. */
const repairOf = (
  step: Step,
  from: PeerId,
  sessionId: Digest,
): { readonly repair: Repair; readonly session: Session } | undefined => {
  const [repair] = step.slice(repairs).repairs.values();
  const session = repair?.session;
  return session?.open.sessionId === sessionId && repair?.helpers.includes(from) ? { repair, session } : undefined;
};

export const onSum = (
  step: Step,
  from: PeerId,
  { sessionId, boxKey, boxes: sealed }: RepairMessageOf<"Repair.Sum">,
): void => {
  const found = repairOf(step, from, sessionId);
  if (found === undefined || found.session.sums.has(from)) return;
  const { repair, session } = found;
  const { open, boxSeed } = session;
  const { self } = step;
  const asked = askedOf(step, open);
  const route = { what: "sum", target: self, asked, generations: open.generations, from, to: self } as const;
  // The type is the encoding; under what is none no box opens.
  const opened = openedFrom(step.context.keyCrypto.boxes, boxSeed, boxKey as BoxKey, route, sealed);
  if (opened === undefined)
    return fail(step, repair, "A helper's word could not be read.", [
      { peerId: from, reason: "its boxes do not open" },
    ]);
  const summed = { ...session, sums: withEntry(session.sums, from, opened) };
  keep(step, { ...repair, session: summed });
  if (summed.sums.size === repair.helpers.length) join(step, repair, summed);
};

/** Adds up, compares with the verifying shares, and stores, all generations of the session or none. */
const join = (step: Step, repair: Repair, session: Session): void => {
  const boxes: Array<readonly [Wanted, Uint8Array]> = [];
  const { open } = session;
  for (const [at, wanted] of open.generations.entries()) {
    const sums = [...session.sums.values()].flatMap((each) => each[at] ?? []);
    const box = joined(step, repair, wanted, sums);
    if (box === undefined)
      return fail(step, repair, "What the helpers told does not make the lost share; who was wrong cannot be seen.");
    boxes.push([wanted, box]);
  }
  for (const [{ generation }, box] of boxes) {
    step.rows(keyTables).put("shares", generationKey(repair.keyId, generation), { box });
    auditRepair(step, repair, open.sessionId, generation);
  }
  const kept = keptGenerations(step, repair.keyId);
  const stored = open.generations.map(({ generation }) => generation);
  const repaired = [...repair.repaired, ...stored];
  const left = kept.filter(
    (each) => !stored.includes(each.generation) && !repair.lost.has(each.generation) && isMissing(step, each),
  );
  if (left.length === 0) return answer(step, { ...repair, repaired }, kept);
  // The next session reads what this one has stored, so it begins in a later step.
  keep(step, { ...repair, repaired, session: undefined });
};

/** The box of a share that fits; undefined where it does not. A session ends with the generations it is about. */
const joined = (step: Step, { keyId }: Repair, wanted: Wanted, sums: ReadonlyArray<Secret>): Uint8Array | undefined => {
  const { context, membership, self } = step;
  const here = wantedHere(step, keyId, wanted);
  if (here === undefined) return undefined;
  const { key, generation } = here;
  const scheme = suiteOf(context.keyCrypto, key.algorithm, key.scheme)?.shared;
  const index = shareIndexOf(membership, self);
  const place = sharePlace(membership, self, generation);
  if (scheme === undefined || index === undefined || place === undefined) return undefined;
  const share = scheme.repairJoin(sums, groupKeyOf(generation), index);
  if (Either.isLeft(share)) return undefined;
  const entropy = new Secret(context.crypto.derive(context.entropy, `repair vault ${keyId} ${wanted.generation}`));
  const box = context.shareVault?.seal(place, share.right.secret, entropy);
  share.right.secret.wipe();
  return box;
};

const auditRepair = (
  step: Step,
  { keyId, claims, line, helpers }: Repair,
  sessionId: Digest,
  generation: number,
): void =>
  auditOfKey(step, {
    event: "SHARE_REPAIRED",
    outcome: "APPLIED",
    detail: `helped by peers ${helpers.join(", ")}`.slice(0, DETAIL_CHARACTERS),
    id: sessionId,
    actor: { iss: claims.iss, sub: claims.sub, jti: claims.jti },
    keyId,
    generation,
    entryPeer: step.self,
    request: line,
  });

const SHARE_MISSING = "its own share is missing";

/** Sentences of our own: what another member writes is passed on to nobody. */
const reasons: { readonly [code: string]: string } = {
  UNAUTHENTICATED: "it refuses the token",
  ACCESS_DENIED: "by its own judgement the token lacks the permission",
  UNDECIDED: "a change is undecided there",
  REGISTRY_DIFFERS: "its registry differs from that of this peer",
  GENERATION_DIFFERS: "it has another record of the generation",
  SHARE_MISSING,
  PART_UNREADABLE: "it could not read what another helper told it",
  SESSION_ENDED: "it was asked in another order",
  TOKEN_KEYS_UNAVAILABLE: "it cannot verify tokens",
  NOT_ACTIVE: "it is not an active member now",
};

/** These pass by themselves, in a moment: whoever gave up for them would never be repaired while changes go on. */
const PASSING: ReadonlySet<string> = new Set(["UNDECIDED", "REGISTRY_DIFFERS"]);

/** Messages that come late are a reason for these as well; then another session comes to something. */
const OF_SESSION: ReadonlySet<string> = new Set(["PART_UNREADABLE", "SESSION_ENDED"]);

/** A helper lacks its share of the one generation that was asked for, or of one of several: then each is asked for alone. */
const goOnWithout = (step: Step, repair: Repair, { open }: Session, helper: PeerId): void => {
  const [single] = repair.isSingly ? open.generations : [];
  const lost = single === undefined ? repair.lost : withEntry(repair.lost, single.generation, helper);
  keep(step, { ...repair, lost, isSingly: true, session: undefined });
};

export const onRefused = (step: Step, from: PeerId, { sessionId, code }: RepairMessageOf<"Repair.Refused">): void => {
  const found = repairOf(step, from, sessionId);
  if (found === undefined || found.session.sums.has(from)) return;
  const { repair, session } = found;
  if (code === "SHARE_MISSING" && (repair.isSingly || session.open.generations.length > 1))
    return goOnWithout(step, repair, session, from);
  // A member may send any word, such as one that every object has.
  const reason = (Object.hasOwn(reasons, code) ? reasons[code] : undefined) ?? "it refuses";
  const delayed = { ...session, delays: withEntry(session.delays, from, reason) };
  if (PASSING.has(code)) return keep(step, { ...repair, session: delayed });
  if (OF_SESSION.has(code) && (session.isOver || repair.givenUp < GIVEN_UP_MOST)) {
    const givenUp = session.isOver ? repair.givenUp : repair.givenUp + 1;
    return keep(step, { ...repair, givenUp, session: { ...delayed, isOver: true } });
  }
  fail(step, repair, `Peer ${from} does not help: ${reason}.`, [{ peerId: from, reason }]);
};

/**
 * Whether a session is to begin: there is none, or no more, or a helper could not begin with a registry that is not this
 * peer's now.
 */
const isToBegin = (step: Step, { session }: Repair): boolean =>
  session === undefined ||
  session.isOver ||
  step.elapsed - session.begunAt >= SESSION_MILLIS ||
  (session.delays.size > 0 && session.open.registryRoot !== rootOf(step));

/** When helpers are to be asked, in monotonic milliseconds. */
const dueAt = (step: Step, { session }: Repair): number =>
  session === undefined ? step.elapsed : session.askedAt + AGAIN_MILLIS;

/** Asks again, or begins with all anew; gives up in time. */
export const onRepairTimer = (step: Step): void => {
  for (const repair of step.slice(repairs).repairs.values()) {
    const { session } = repair;
    if (step.elapsed - repair.arrivedAt >= step.context.settings.answerMillis - 2 * AGAIN_MILLIS) giveUp(step, repair);
    else if (dueAt(step, repair) > step.elapsed) continue;
    else if (session === undefined || isToBegin(step, repair)) begin(step, repair);
    else {
      keep(step, { ...repair, session: { ...session, askedAt: step.elapsed, delays: new Map() } });
      // Also whose sum is here: what it has told another helper may be lost.
      step.sendFlushed(session.open, repair.helpers);
    }
  }
};

const giveUp = (step: Step, repair: Repair): void => {
  const { helpers, session } = repair;
  // Nobody was asked, so nobody is to blame.
  if (session === undefined)
    return fail(step, repair, isIdle(step) ? "No time was left." : "A change is undecided at this peer.");
  const silent = helpers.filter((each) => !session.sums.has(each));
  const members = silent.map((peerId) => ({ peerId, reason: session.delays.get(peerId) ?? "it has told nothing" }));
  fail(step, repair, "Not every helper has done its part in time.", members);
};

/** Lets go of what nobody keeps shares of any more, and sees to it that the timer fires; called at the end of every event. */
export const goOnRepairing = (step: Step): void => {
  if (step.slice(repairs).repairs.size === 0) return;
  for (const repair of step.slice(repairs).repairs.values()) {
    const { keyId, session } = repair;
    if (step.rows(keyTables).current("custodyKeys", keyId)?.status !== "ACTIVE") end(step, repair, keyDestroyed);
    // Helpers have let go of it too; whatever else is missing is asked for in another session.
    else if (session?.open.generations.some((each) => wantedHere(step, keyId, each) === undefined) === true)
      keep(step, { ...repair, session: undefined });
  }
  // The timer of a repair that is over may fire while the next one is under way.
  for (const repair of step.slice(repairs).repairs.values()) {
    const isWaiting = isToBegin(step, repair) && !isIdle(step);
    step.arm(REPAIR_TIMER, isWaiting ? AGAIN_MILLIS : Math.max(1, dueAt(step, repair) - step.elapsed));
  }
};

/** Where this peer can take part no more, its callers are told and the secrets are gone. */
export const forgetRepairs = (step: Step): void => {
  const { repairs: all, helping } = step.slice(repairs);
  if (all.size + helping.size === 0) return;
  const reason = notReadyReason(step) ?? "";
  for (const repair of all.values())
    fail(step, repair, "This peer takes part in nothing any more.", [{ peerId: step.self, reason }]);
  step.editIn(repairs, "helping").clear();
};
