/**
 * The writer's side: it begins a session for a request in its queue that nothing was made for yet, and lets go of what
 * nobody waits for any more. The request itself stays in the queue (Standing "NotYet") until it can be proposed.
 */
import type { Digest } from "../../base/Digest.ts";
import { endsTooSoon } from "../../auth/Authorization.ts";
import { type Rejection } from "../../base/Rejection.ts";
import { actorName, inTurn } from "../../protocol/Admission.ts";
import { leftOpen } from "../../protocol/Answers.ts";
import { isOutOfTime, stampedWrong } from "../../protocol/Clocks.ts";
import { forgotten, isFromBefore } from "../../protocol/DuplicateSuppression.ts";
import { writerPatience } from "../../protocol/Patience.ts";
import { askAnewUnlessJustFound, currentVerdict } from "../../protocol/Readiness.ts";
import type { Queued } from "../../protocol/Requests.ts";
import type { Step } from "../../protocol/Step.ts";
import { freshNonce } from "../../protocol/Nonces.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { versionFor } from "../../protocol/Versions.ts";
import { unavailable } from "../../protocol/Unavailable.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import { KEYS_SINCE } from "../keys/Tables.ts";
import { endEverywhere, makingsInQueue, shareMissing, turnAway, waitingFor } from "./KeygenEnd.ts";
import { AGAIN_MILLIS, beginSession, sayOpen, sayPackage } from "./KeygenRounds.ts";
import { MOST_SESSIONS, startOf } from "./KeygenMember.ts";
import { advanceSession, PROCEED_TIMER, takeEarly } from "./KeygenTurn.ts";
import type { Making } from "./Making.ts";
import { makings } from "./MakingState.ts";
import { isChanging, judge, knownStanding } from "./MakingStanding.ts";
import { isRestedOn, MAKING_MILLIS } from "./PendingRows.ts";
import { makeAlone } from "./MakeAlone.ts";

/** So much before its caller is told that it waited too long, a session says who held it up. */
const soonerMillis = (step: Step): number => Math.min(500, writerPatience(step) / 8);

type Wanted = Queued & { readonly intent: Making };

const UNWANTED = { code: "NOT_PROPOSED", members: [] };

/**
 * What was made or is being made for requests that are no longer here, and was not proposed; or together with a member
 * that was restored since.
 */
const letGo = (step: Step): void => {
  const { sessions, pending } = step.slice(makings);
  const isOver = (requestDigest: Digest, incarnations: ReadonlyArray<number>): boolean =>
    waitingFor(step, requestDigest).length === 0 || !step.isCurrent(incarnations);
  for (const { sessionId, making, incarnations } of sessions.values())
    if (isOver(making.requestDigest, incarnations)) endEverywhere(step, sessionId, UNWANTED);
  for (const mark of pending.values())
    if (!isRestedOn(step, mark) && isOver(mark.requestDigest, mark.incarnations))
      endEverywhere(step, mark.sessionId, UNWANTED);
};

/** The members that run a version without keys. */
const withoutKeys = ({ context, state, others }: Step): ReadonlyArray<PeerId> =>
  others.filter((peerId) => versionFor(context.commands.versions, state.cluster.spoken.get(peerId)) < KEYS_SINCE);

/** Why nothing is begun for a request, though it is possible; undefined where nothing speaks against it. */
const refusal = (step: Step, { forward, isFirst, intent }: Wanted): Rejection | undefined => {
  const older = withoutKeys(step);
  if (older.length > 0)
    return unavailable(
      older.map((peerId) => ({ peerId, reason: "it runs a version without keys" })),
      intent.ref,
    );
  // As for a change that could be proposed (Coordinator.ts).
  if (!isFirst && isFromBefore(step, forward))
    return leftOpen(step.context.commands, forgotten(step, intent.ref), intent);
  return isOutOfTime(forward.receivedAt, step.now)
    ? unavailable([stampedWrong(forward.entryPeer)], intent.ref)
    : undefined;
};

/** Begins sessions for waiting requests; called at the end of every event. */
export const openSessions = (step: Step): void => {
  const { sessions, pending } = step.slice(makings);
  if (sessions.size > 0 || pending.size > 0) letGo(step);
  // What waits for its proposal is looked at again, however quiet it is.
  for (const mark of step.slice(makings).pending.values())
    if (!isRestedOn(step, mark)) step.arm(PROCEED_TIMER, AGAIN_MILLIS);
  const queue = makingsInQueue(step);
  judge(step, queue);
  if (step.slice(makings).sessions.size >= MOST_SESSIONS || !queue.some((queued) => isWaiting(step, queued))) return;
  const verdict = currentVerdict(step);
  // Whoever waits is told who is not ready when the queue is looked at next.
  if (verdict === undefined || verdict.faults.length > 0) return;
  // A peer that is alone makes as many in one step, and goes on with the next event.
  let alone = 0;
  // In turn, as what could be proposed: those that are being made count for their callers.
  for (const queued of inTurn(queue, ({ actor }) => actorName(actor))) {
    if (step.slice(makings).sessions.size + alone >= MOST_SESSIONS) return;
    if (!isWaiting(step, queued)) continue;
    open(step, queued);
    if (step.others.length === 0) alone += 1;
  }
};

/** Whether it waits for a session of its own, and for nothing else. */
const isWaiting = (step: Step, { intent, tokenExpiresAt }: Wanted): boolean => {
  for (const { making } of step.slice(makings).sessions.values()) if (making.keyId === intent.keyId) return false;
  for (const { keyId } of step.slice(makings).pending.values()) if (keyId === intent.keyId) return false;
  return (
    !step.isLocked(generationLock(intent.keyId)) &&
    !isChanging(step, intent) &&
    endsTooSoon(step.context, tokenExpiresAt) === undefined &&
    knownStanding(step, intent)._tag === "NotYet"
  );
};

const open = (step: Step, queued: Wanted): void => {
  const { intent: making, forward: evidence, arrivedAt } = queued;
  // The others are asked for their clocks once more.
  if (isOutOfTime(evidence.receivedAt, step.now) && !askAnewUnlessJustFound(step)) return;
  const refused = refusal(step, queued);
  if (refused !== undefined) return turnAway(step, [queued], refused);
  // The request is part of the label, so that two sessions of one step have different names.
  const sessionId = freshNonce(step, `keygen session ${making.requestDigest}`);
  const start = startOf(step, making);
  if (typeof start === "string") return turnAway(step, [queued], shareMissing(step.self, making.ref));
  const incarnations = step.membership.peerIds.map((peerId) => step.recordedIncarnation(peerId));
  if (step.others.length === 0) return makeAlone(step, { sessionId, making, incarnations, old: start.old });
  const deadline = Math.min(
    step.elapsed + MAKING_MILLIS,
    Math.max(step.elapsed + 1, arrivedAt + writerPatience(step) - soonerMillis(step)),
  );
  // Every member has answered this process before anything begins.
  const processes = new Map([...step.state.requests.forgottenUntil].map(([peerId, { process }]) => [peerId, process]));
  const asked = { evidence, processes };
  const session = beginSession(step, { sessionId, making, asked, incarnations, deadline, ...start });
  sayOpen(step, session, asked);
  sayPackage(step, session, step.others);
  const next = takeEarly(step, session);
  if (next !== undefined) advanceSession(step, next);
};
