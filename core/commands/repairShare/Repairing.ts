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
import { groupKeyOf, heldShare, isSolo, shareIndexOf, sharePlace } from "../keys/HeldShare.ts";
import { keyIdIn } from "../keys/KeyId.ts";
import type { Generation } from "../keys/KeyRecord.ts";
import { keyDestroyed, keyNotFound } from "../keys/KeyRefusals.ts";
import { generationKey, keyRows, keyTables } from "../keys/Tables.ts";
import { askedOf, isIdle, isKept, rootOf, wantedHere } from "./Helper.ts";
import type { RepairMessageOf, Wanted } from "./RepairMessages.ts";
import { readHelpers } from "./RepairRequest.ts";
import { type Repair, repairs } from "./RepairState.ts";
import { openedFrom } from "./Secrets.ts";

export const REPAIR_TIMER = "Repair.asking";
const AGAIN_MILLIS = 250;
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
  return isIdle(step) ? undefined : failed("A change is undecided at this peer.");
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
  const asked = { requestId, keyId, claims, line, helpers: helpers.right, arrivedAt: step.elapsed };
  begin(step, { ...asked, isSingly: false, repaired: [], lost: new Map() }, evidence);
};

/** The generations of a key that members keep shares of, ascending. */
const keptGenerations = (step: Step, keyId: string): ReadonlyArray<Generation> => {
  const rows = keyRows(step.view);
  const last = rows.get("custodyKeys", keyId)?.generation ?? 0;
  const kept: Array<Generation> = [];
  for (let no = 1; no <= last; no += 1) {
    const generation = rows.get("generations", generationKey(keyId, no));
    if (generation !== undefined && isKept(generation) && !isSolo(generation)) kept.push(generation);
  }
  return kept;
};

const isMissing = (step: Step, generation: Generation): boolean => {
  const share = heldShare(step.context, step.membership, step.self, generation);
  share?.wipe();
  return share === undefined;
};

/** Asks for those that are missing, as many as one session takes or the newest alone; answers when none is. */
const begin = (
  step: Step,
  wanted: Omit<Repair, "open" | "boxSeed" | "sums" | "askedAt">,
  evidence: Repair["open"]["evidence"],
): void => {
  const { context, self } = step;
  const kept = keptGenerations(step, wanted.keyId);
  const all = kept.filter((each) => !wanted.lost.has(each.generation) && isMissing(step, each));
  const missing = wanted.isSingly ? all.slice(-1) : all.slice(0, Limits.repairedGenerations);
  if (missing.length === 0) return answer(step, wanted, kept);
  const { crypto, entropy } = context;
  const sessionId = freshNonce(step, `repair session ${wanted.requestId}`);
  const boxSeed = new Secret(crypto.derive(entropy, `repair box ${self} ${sessionId}`));
  const repair: Repair = {
    ...wanted,
    boxSeed,
    sums: new Map(),
    askedAt: step.elapsed,
    open: {
      _tag: "Repair.Open",
      sessionId,
      evidence,
      generations: missing.map(({ generation, transcript }) => ({ generation, transcript })),
      boxKey: context.keyCrypto.boxes.keyOf(boxSeed),
      registryRoot: rootOf(step),
    },
  };
  keep(step, repair);
  step.sendFlushed(repair.open, repair.helpers);
};

const keep = (step: Step, repair: Repair): void => void step.editIn(repairs, "repairs").set(repair.requestId, repair);

/** Generations for people, the newest first. */
const named = (generations: ReadonlyArray<number>): string => {
  const newestFirst = generations.toSorted((one, other) => other - one);
  const more = newestFirst.length > Limits.listedFaults ? " and older ones" : "";
  return `${newestFirst.slice(0, Limits.listedFaults).join(", ")}${more}`;
};

const answer = (
  step: Step,
  { requestId, lost, repaired: stored }: Pick<Repair, "requestId" | "lost" | "repaired">,
  kept: ReadonlyArray<Generation>,
): void => {
  if (lost.size > 0) {
    const members = [...new Set(lost.values())].map((peerId) => ({ peerId, reason: SHARE_MISSING }));
    const detail = `Still lost, by generation: ${named([...lost.keys()])}; all others are repaired.`;
    return reject(step, requestId, { ...failed(detail, members), outcomeUnknown: stored.length > 0 });
  }
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

/** The repair that this helper's word is about. */
const repairOf = (step: Step, from: PeerId, sessionId: Digest): Repair | undefined => {
  const [repair] = step.slice(repairs).repairs.values();
  return repair?.open.sessionId === sessionId && repair.helpers.includes(from) ? repair : undefined;
};

export const onSum = (
  step: Step,
  from: PeerId,
  { sessionId, boxKey, boxes: sealed }: RepairMessageOf<"Repair.Sum">,
): void => {
  const repair = repairOf(step, from, sessionId);
  if (repair === undefined || repair.sums.has(from)) return;
  const { open, boxSeed } = repair;
  const { self } = step;
  const asked = askedOf(step, open);
  const route = { what: "sum", target: self, asked, generations: open.generations, from, to: self } as const;
  // The type is the encoding; under what is none no box opens.
  const opened = openedFrom(step.context.keyCrypto.boxes, boxSeed, boxKey as BoxKey, route, sealed);
  if (opened === undefined)
    return fail(step, repair, "A helper's word could not be read.", [
      { peerId: from, reason: "its boxes do not open" },
    ]);
  const summed = { ...repair, sums: withEntry(repair.sums, from, opened) };
  keep(step, summed);
  if (summed.sums.size === summed.helpers.length) join(step, summed);
};

/** Adds up, compares with the verifying shares, and stores, all generations of the session or none. */
const join = (step: Step, repair: Repair): void => {
  const boxes: Array<readonly [Wanted, Uint8Array]> = [];
  for (const [at, wanted] of repair.open.generations.entries()) {
    const sums = [...repair.sums.values()].flatMap((each) => each[at] ?? []);
    const box = joined(step, repair, wanted, sums);
    if (box === undefined)
      return fail(step, repair, "What the helpers told does not make the lost share; who was wrong cannot be seen.");
    boxes.push([wanted, box]);
  }
  for (const [{ generation }, box] of boxes) {
    step.rows(keyTables).put("shares", generationKey(repair.keyId, generation), { box });
    auditRepair(step, repair, generation);
  }
  const kept = keptGenerations(step, repair.keyId);
  const stored = repair.open.generations.map(({ generation }) => generation);
  const repaired = [...repair.repaired, ...stored];
  const left = kept.filter(
    (each) => !stored.includes(each.generation) && !repair.lost.has(each.generation) && isMissing(step, each),
  );
  if (left.length === 0) {
    step.editIn(repairs, "repairs").delete(repair.requestId);
    return answer(step, { ...repair, repaired }, kept);
  }
  // The next session reads what this one has stored, so it begins in a later step.
  keep(step, { ...repair, repaired, sums: new Map(), open: { ...repair.open, generations: [] } });
};

/** The box of a share that fits; undefined where it does not, or its generation has changed meanwhile. */
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

const auditRepair = (step: Step, { keyId, claims, line, helpers, open }: Repair, generation: number): void =>
  auditOfKey(step, {
    event: "SHARE_REPAIRED",
    outcome: "APPLIED",
    detail: `helped by peers ${helpers.join(", ")}`.slice(0, DETAIL_CHARACTERS),
    id: open.sessionId,
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
  TOKEN_KEYS_UNAVAILABLE: "it cannot verify tokens",
  NOT_ACTIVE: "it is not an active member now",
};

/** A helper lacks its share of the one generation that was asked for, or of one of several: then each is asked for alone. */
const goOnWithout = (step: Step, repair: Repair, helper: PeerId): void => {
  const [single] = repair.isSingly ? repair.open.generations : [];
  const lost = single === undefined ? repair.lost : withEntry(repair.lost, single.generation, helper);
  keep(step, { ...repair, lost, isSingly: true, sums: new Map(), open: { ...repair.open, generations: [] } });
};

export const onRefused = (step: Step, from: PeerId, { sessionId, code }: RepairMessageOf<"Repair.Refused">): void => {
  const repair = repairOf(step, from, sessionId);
  if (repair === undefined || repair.sums.has(from)) return;
  if (code === "SHARE_MISSING" && (repair.isSingly || repair.open.generations.length > 1))
    return goOnWithout(step, repair, from);
  // A member may send any word, such as one that every object has.
  const reason = (Object.hasOwn(reasons, code) ? reasons[code] : undefined) ?? "it refuses";
  fail(step, repair, `Peer ${from} does not help: ${reason}.`, [{ peerId: from, reason }]);
};

/** Asks again whoever has told nothing yet; gives up in time. */
export const onRepairTimer = (step: Step): void => {
  for (const repair of step.slice(repairs).repairs.values()) {
    const silent = repair.helpers.filter((each) => !repair.sums.has(each));
    const members = silent.map((peerId) => ({ peerId, reason: "it has told nothing" }));
    if (step.elapsed - repair.arrivedAt >= step.context.settings.answerMillis - 2 * AGAIN_MILLIS)
      fail(step, repair, "Not every helper has done its part in time.", members);
    else if (step.elapsed - repair.askedAt >= AGAIN_MILLIS) {
      keep(step, { ...repair, askedAt: step.elapsed });
      step.sendFlushed(repair.open, silent);
    }
  }
};

/** Goes on with the next generations, unless the key is destroyed; called at the end of every event. */
export const goOnRepairing = (step: Step): void => {
  if (step.slice(repairs).repairs.size === 0) return;
  for (const repair of step.slice(repairs).repairs.values())
    if (step.rows(keyTables).current("custodyKeys", repair.keyId)?.status !== "ACTIVE") end(step, repair, keyDestroyed);
  for (const { open, boxSeed: _, sums: __, askedAt: ___, ...wanted } of step.slice(repairs).repairs.values()) {
    if (open.generations.length > 0) continue;
    step.editIn(repairs, "repairs").delete(wanted.requestId);
    begin(step, wanted, open.evidence);
  }
  // The timer of a repair that is over may fire while the next one is under way.
  for (const { askedAt } of step.slice(repairs).repairs.values())
    step.arm(REPAIR_TIMER, Math.max(1, askedAt + AGAIN_MILLIS - step.elapsed));
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
