/**
 * A member is asked to make a key for a request. It judges for itself what it would judge in a vote, because what it
 * makes is stored (contract 5.6).
 */
import { Either } from "effect";
import { authorize } from "../../auth/Authorization.ts";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { isAttested } from "../../protocol/Forward.ts";
import { isOutOfTime } from "../../protocol/Clocks.ts";
import { hasDenied } from "../../protocol/OwnRequest.ts";
import { remindOfRecord, WRONG_INCARNATION } from "../../protocol/Reminders.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { groupKeyOf, heldShare, isSolo, shareIndexOf, wholeAt } from "../keys/HeldShare.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import type { Generation } from "../keys/KeyRecord.ts";
import { keyRows } from "../keys/Tables.ts";
import { endHere, SESSION_LOST, SHARE_MISSING } from "./KeygenEnd.ts";
import type { KeygenMessageOf } from "./KeygenMessages.ts";
import { beginSession, say, sayPackage, suiteHere } from "./KeygenRounds.ts";
import { advanceSession, takeEarly } from "./KeygenTurn.ts";
import { isMaking, type Making, makingPermissions } from "./Making.ts";
import { makings } from "./MakingState.ts";
import { baseOf, readMaking, standing } from "./MakingStanding.ts";
import type { Old } from "./SchemeRounds.ts";
import { LOCKED, MAKING_MILLIS } from "./PendingRows.ts";

/** Sessions at once, at the writer and so at every member. */
export const MOST_SESSIONS = 4;

/** What a session makes its shares of: nothing, or what is refreshed. A code where that is missing. */
export type Start = { readonly old: Old | undefined };

export const startOf = (step: Step, making: Making): Start | string => {
  if (making.madeBy !== "REFRESH") return { old: undefined };
  const { generation } = baseOf(step.view, making);
  const { membership, self, context } = step;
  if (generation !== undefined && isSolo(generation) && step.others.length > 0)
    return startOfWhole(step, making, generation);
  const secret = generation && heldShare(context, membership, self, generation);
  const index = shareIndexOf(membership, self);
  return generation === undefined || secret === undefined || index === undefined
    ? SHARE_MISSING
    : { old: { _tag: "Held", held: { key: groupKeyOf(generation), share: { index, secret } } } };
};

/** A key from before a promotion is refreshed by the member that has it whole; that one alone needs something of it. */
const startOfWhole = (step: Step, making: Making, generation: Generation): Start | string => {
  const { membership, self, context } = step;
  const holder = wholeAt(membership);
  const dealer = holder === undefined ? undefined : shareIndexOf(membership, holder);
  if (dealer === undefined) return SHARE_MISSING;
  const { publicKey } = generation;
  if (holder !== self) return { old: { _tag: "Whole", whole: { dealer, publicKey, secret: undefined } } };
  const whole = heldShare(context, membership, self, generation);
  const secret = whole && suiteHere(step, making).solo.scalarOf?.(whole);
  whole?.wipe();
  return secret === undefined ? SHARE_MISSING : { old: { _tag: "Whole", whole: { dealer, publicKey, secret } } };
};

interface Opening extends Start {
  readonly making: Making;
}

const opening = (
  step: Step,
  { evidence, incarnations, process }: KeygenMessageOf<"Keygen.Open">,
  actor: ActorCheck,
): Opening | string => {
  const { call, receivedAt } = evidence;
  // Another package than the one that it told would have the others take it for a liar.
  if (process !== step.moment.process) return SESSION_LOST;
  if (!step.isCurrent(incarnations)) return WRONG_INCARNATION;
  if (!isMaking(call)) return "WRONG_REQUEST";
  const authorized = authorize(step.context, actor, makingPermissions(call));
  if (Either.isLeft(authorized)) return authorized.left.code;
  if (!isAttested(step.context.crypto, step.membership, evidence)) return "NOT_ATTESTED";
  if (hasDenied(step, evidence)) return "DENIED";
  if (isOutOfTime(receivedAt, step.now)) return "STALE_REQUEST";
  const making = readMaking(step, call);
  if (Either.isLeft(making)) return making.left.code;
  return rowsOpening(step, making.right);
};

const rowsOpening = (step: Step, making: Making): Opening | string => {
  if (step.isLocked(generationLock(making.keyId))) return LOCKED;
  const stands = standing(step, making);
  if (stands._tag === "Impossible") return stands.rejection.code;
  if (stands._tag === "Done") return "DONE";
  const start = startOf(step, making);
  return typeof start === "string" ? start : { making, ...start };
};

const UNAVAILABLE: ActorCheck = { _tag: "Unavailable" };

export const onOpen = (
  step: Step,
  from: PeerId,
  message: KeygenMessageOf<"Keygen.Open">,
  [actor = UNAVAILABLE]: ReadonlyArray<ActorCheck>,
): void => {
  const { sessionId, incarnations } = message;
  if (from !== step.membership.writer || hasAnswered(step, from, message)) return;
  // Nothing follows from missing token keys: the writer asks again.
  if (actor._tag === "Unavailable") return;
  const begun = opening(step, message, actor);
  if (typeof begun === "string") {
    if (begun === WRONG_INCARNATION) remindOfRecord(step, incarnations);
    const failure = { code: begun, members: [] };
    endHere(step, sessionId, failure);
    return say(step, { _tag: "Keygen.Ended", sessionId, ...failure }, [from]);
  }
  makeRoom(step, begun.making);
  const deadline = step.elapsed + MAKING_MILLIS;
  const session = beginSession(step, { sessionId, asked: undefined, incarnations, deadline, ...begun });
  sayPackage(step, session, step.others);
  const next = takeEarly(step, session);
  if (next !== undefined) advanceSession(step, next);
};

/** Says again how far a session is that is known here, or that it is over. */
const hasAnswered = (step: Step, from: PeerId, { sessionId }: KeygenMessageOf<"Keygen.Open">): boolean => {
  const { sessions, ended, pending } = step.slice(makings);
  for (const [key, mark] of pending) {
    const row = mark.sessionId === sessionId ? keyRows(step.view).get("pending", key) : undefined;
    if (row === undefined) continue;
    say(step, { _tag: "Keygen.Stored", sessionId, transcript: row.transcript }, [from]);
    return true;
  }
  const over = ended.get(sessionId);
  if (over !== undefined) say(step, { _tag: "Keygen.Ended", ...over }, [from]);
  const session = sessions.get(sessionId);
  if (session !== undefined) sayPackage(step, session, [from]);
  return over !== undefined || session !== undefined;
};

const REPLACED = { code: "REPLACED", members: [] };

/**
 * A later session of the same key takes the place of the earlier one; beyond the limit, of the oldest that is not done
 * here. The writer has ended it, or lost it with its process.
 */
const makeRoom = (step: Step, { keyId }: Making): void => {
  for (const { sessionId, making } of step.slice(makings).sessions.values())
    if (making.keyId === keyId) endHere(step, sessionId, REPLACED);
  const open = [...step.slice(makings).sessions.values()].filter(({ made }) => made === undefined);
  for (const { sessionId } of open.slice(0, Math.max(0, open.length + 1 - MOST_SESSIONS)))
    endHere(step, sessionId, REPLACED);
};
