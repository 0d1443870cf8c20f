/**
 * The writer's side: requests wait in one queue, are judged, and are proposed,
 * up to 64 with different locks in one `Prepare`. Requests that arrive meanwhile
 * go into the next one together (protocol.md 3.3, 4h).
 */
import { absurd, Either } from "effect";
import type { ActorClaims } from "../auth/ActorClaims.ts";
import { authorize, endsTooSoon } from "../auth/Authorization.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";
import type { Queued, Request } from "./Requests.ts";
import type { MemberFault, Rejection } from "../base/Rejection.ts";
import type { Step } from "./Step.ts";
import { answerExisting, answerRejected, callerOf, callerOfQueued, leftOpen, type Repeats } from "./Answers.ts";
import { isOutOfTime, stampedWrong } from "./Clocks.ts";
import { commandFor, exchangeFor, type Intent, isIntent, type Target, unrecognized } from "./Command.ts";
import { bodyBytesOf, hasRoom } from "./Evidence.ts";
import { type Call, type Forward, isSameRequest, requestLineOf } from "./Forward.ts";
import type { PrepareItem } from "./Message.ts";
import { hasRoomToAbort, hasRoomToPrepare, roomOfActor } from "./AbortPace.ts";
import { actorName, inTurn, makingRoom, paced, placesAt, type Share } from "./Admission.ts";
import { hold } from "./Lifecycle.ts";
import { reserve } from "./Preparations.ts";
import { coalesce, beginRound } from "./Rounds.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { currentVerdict, askAnewUnlessJustFound, notReadyReason } from "./Readiness.ts";
import { writerPatience } from "./Patience.ts";
import { forgotten, isFromBefore } from "./DuplicateSuppression.ts";
import { asMember, busy, crowded, NO_CAPACITY, noCapacity, unavailable, unready } from "./Unavailable.ts";
import { commitCompleted, isOverdue, stableSeq } from "./Delivery.ts";

/** Whether a forwarded request is waiting here already. */
const isPending = (step: Step, forward: Forward): boolean =>
  step.state.requests.queue.some((each) => isSameRequest(each.forward, forward)) ||
  isInExchange(step, forward) ||
  isInRound(step, forward);

const isInExchange = (step: Step, forward: Forward): boolean => {
  for (const exchange of step.context.commands.exchanges.values())
    for (const admitted of exchange.underWay(step)) if (isSameRequest(admitted.forward, forward)) return true;
  return false;
};

const isInRound = (step: Step, forward: Forward): boolean => {
  for (const { creator, coalesced } of step.state.undecided.rounds.values()) {
    if (creator !== undefined && isSameRequest(creator, forward)) return true;
    if (coalesced.some((pending) => isSameRequest(pending.forward, forward))) return true;
  }
  return false;
};

/** Every exchange is asked, whatever the request is: that is when it forgets answers that are no longer of use. */
const isAnsweredAgain = (step: Step, forward: Forward): boolean => {
  for (const exchange of step.context.commands.exchanges.values()) if (exchange.answerAgain(step, forward)) return true;
  return false;
};

/** A request that came through another peer may be a copy; after one refusal it gets no second chance. */
export const admitForwarded = (step: Step, forward: Forward, actor: ActorCheck): void => {
  if (isPending(step, forward) || isAnsweredAgain(step, forward)) return;
  const turnedAway = step.state.requests.turnedAway.get(forward.entryPeer)?.get(forward.requestId);
  if (turnedAway !== undefined)
    return answerRejected(step, callerOf(forward, step.elapsed, askedOf(step, forward.call)), turnedAway.rejection);
  const judged = judgeRequest(step, forward.call, actor);
  if (Either.isRight(judged)) enqueue(step, forward, judged.right);
  else answerRejected(step, callerOf(forward, step.elapsed, askedOf(step, forward.call)), judged.left);
};

/** The target of a request, whoever its caller is; undefined where it cannot be understood. */
export const askedOf = (step: Step, call: Call): Target | undefined => {
  const { commands } = step.context;
  const exchange = exchangeFor(commands, call);
  return exchange === undefined
    ? commandFor(commands, call)?.targetOf(step.context, call)
    : Either.getOrUndefined(exchange.parse(step, call));
};

/** The meaning and the actor of a request, judged by this peer: all that needs no other member. */
export interface Judged {
  readonly claims: ActorClaims;
  readonly request: Request;
}

export const judgeRequest = (step: Step, call: Call, actor: ActorCheck): Either.Either<Judged, Rejection> => {
  const exchange = exchangeFor(step.context.commands, call);
  const command = commandFor(step.context.commands, call);
  const authorized = authorize(step.context, actor, (exchange ?? command)?.permissionsOf(call) ?? []);
  if (Either.isLeft(authorized)) return Either.left(asMember(step.self, authorized.left));
  // A peer may trust its rows only after the others have shown it that it may.
  const reason = command?.needsRows === true ? notReadyReason(step) : undefined;
  if (reason !== undefined) return Either.left(unavailable([{ peerId: step.self, reason }], undefined));
  const claims = authorized.right;
  const request: Either.Either<Request, Rejection> =
    exchange?.parse(step, call) ?? command?.admit(step, call, claims) ?? Either.left(unrecognized);
  return Either.mapBoth(request, {
    onLeft: (rejected) => asMember(step.self, rejected),
    onRight: (asked) => ({ claims, request: asked }),
  });
};

const shareOf = ({ forward, actor }: Pick<Queued, "forward" | "actor">): Share => ({
  actor: actorName(actor),
  bytes: bodyBytesOf(forward),
});

/** What the writer holds for callers beside its queue: exchanges, and coalesced requests. */
const heldBesides = (step: Step): ReadonlyArray<Share> => {
  const shares: Array<Share> = [];
  for (const exchange of step.context.commands.exchanges.values())
    for (const admitted of exchange.underWay(step)) shares.push(shareOf(admitted));
  for (const { coalesced } of step.state.undecided.rounds.values())
    for (const pending of coalesced) shares.push(shareOf(pending));
  return shares;
};

/** Bytes of bodies that may have to be sent again: of prepared proposals, whoever waits for them. */
const evidenceBytes = ({ state }: Step): number => {
  let bytes = 0;
  for (const { evidence } of state.undecided.rounds.values())
    bytes += evidence === undefined ? 0 : bodyBytesOf(evidence);
  return bytes;
};

/** Makes room by turning away the newest of the actor that holds most; false where that is the new one's actor. */
const makeRoom = (step: Step, arrival: Share): boolean => {
  const {
    requests: { pace, queue },
  } = step.state;
  const going = makingRoom(queue.map(shareOf), arrival, heldBesides(step), {
    requests: placesAt(pace, step.capacities, writerPatience(step)),
    bytes: Math.max(0, Limits.queuedBytes - evidenceBytes(step)),
  });
  if (going === undefined) return false;
  if (going.size === 0) return true;
  step.draft("requests").queue = queue.filter((_, index) => !going.has(index));
  for (const index of going) {
    const gone = queue[index];
    if (gone !== undefined) answerRejected(step, callerOfQueued(gone), full(gone.intent.ref));
  }
  return true;
};

const full = (ref: string | undefined): Rejection => crowded("The writer has as much waiting as it may.", ref);

/** Queues a request that was judged well-formed and permitted, if there is room. */
export const enqueue = (step: Step, forward: Forward, { claims, request }: Judged): void => {
  const arrivedAt = step.elapsed;
  const { iss, sub, jti, expiresAt: tokenExpiresAt } = claims;
  const actor = { iss, sub, jti };
  if (!makeRoom(step, shareOf({ forward, actor })))
    return answerRejected(step, callerOf(forward, arrivedAt, request), full(request.ref));
  step.arm("answers", writerPatience(step));
  if (isIntent(request)) {
    const isFirst = !isFromBefore(step, forward);
    const queued = { forward, actor, tokenExpiresAt, arrivedAt, intent: request, isFirst };
    step.draft("requests").queue = [...step.state.requests.queue, queued];
  } else
    step.context.commands.exchanges
      .get(request.kind)
      ?.accept(step, { forward, actor, tokenExpiresAt, arrivedAt }, request);
};

/**
 * Starts the next round if there is one to start; called at the end of every
 * event. A mono instance has no member to wait for, so it waits for its mailbox:
 * everything that came in during a flush is queued before the timer fires.
 */
export const advance = (step: Step): void => {
  if (!step.isWriter || step.state.requests.queue.length === 0 || step.state.undecided.collecting.size > 0) return;
  if (step.others.length === 0) step.arm("propose", 0);
  else startRound(step);
};

export const onProposeTimer = (step: Step): void => {
  if (step.state.requests.queue.length > 0) startRound(step);
};

const startRound = (step: Step): void => {
  const verdict = currentVerdict(step);
  if (verdict === undefined) return;
  if (verdict.faults.length > 0) failQueue(step, verdict.faults);
  else propose(step);
};

/** Nothing is reserved while a member is missing: all pending callers are told which one and why. */
const failQueue = (step: Step, found: ReadonlyArray<MemberFault>): void => {
  step.draft("probing").verdict = undefined;
  const waiting = step.state.requests.queue;
  step.draft("requests").queue = [];
  for (const queued of waiting) answerRejected(step, callerOfQueued(queued), unready(found, queued.intent.ref));
};

/** Proposed with these effects, left to wait, or answered. */
type Disposal = Uint8Array | "wait" | "done";

/** Coalesces an intent with the round whose outcome is its own too; returns whether there is one. */
const coalesceWithRound = (step: Step, queued: Queued): boolean => {
  const { intent } = queued;
  const holder = step.command(intent).coalescesWith(step.state, intent);
  const round = holder && step.state.undecided.rounds.get(holder);
  // Without its evidence no further member can prepare it: how it is settled decides about this request too.
  if (round === undefined || (round.evidence === undefined && round.certificate === undefined)) return false;
  coalesce(step, round.id, queued);
  return true;
};

/**
 * Whether an undecided change decides about this one too: it has the same subject, or the same claim. Nobody who asks
 * for it again is shown a subject under change, as not every member may have the change yet.
 */
const isHeldUp = (step: Step, { locks }: Intent): boolean => locks.some((lock) => step.isLocked(lock));

/** Nothing more is proposed, of this actor or at all, while so much that was proposed had to be aborted. */
const abortedTooOften = (step: Step, { actor, intent: { ref } }: Queued): Rejection | undefined => {
  if (roomOfActor(step, actor, 0) === "no")
    return busy("Too many changes under this subject of tokens were refused.", ref);
  return hasRoomToAbort(step) ? undefined : busy("Too many changes were refused and given up.", ref);
};

/** Takes the next step for a queued request: it is coalesced, waits, is answered from decided rows, or is proposed. */
const dispose = (step: Step, queued: Queued, reserved: number): Disposal => {
  const { intent, tokenExpiresAt } = queued;
  const caller = callerOfQueued(queued);
  const done = (rejected: Rejection, repeats?: Repeats): Disposal => {
    answerRejected(step, caller, rejected, repeats);
    return "done";
  };
  const tooSoon = endsTooSoon(step.context, tokenExpiresAt);
  if (tooSoon !== undefined) return done(asMember(step.self, tooSoon));
  if (coalesceWithRound(step, queued)) return "done";
  // Before any row is read, because waiting requests are looked at again at every event.
  if (isHeldUp(step, intent)) return "wait";
  const standing = step.command(intent).check(step, intent);
  const tired = abortedTooOften(step, queued);
  switch (standing._tag) {
    case "Done":
      answerExisting(step, caller, intent, standing.name);
      return "done";
    case "Impossible":
      return done(asMember(step.self, standing.rejection), standing.isFinal ? "by itself" : "only if remembered");
    case "NotYet":
      return tired === undefined ? "wait" : done(tired);
    case "Possible":
      // It may be a copy of a request that was rejected and is forgotten: doing it now would belie that answer.
      if (!queued.isFirst && isFromBefore(step, queued.forward))
        return done(leftOpen(step.context.commands, forgotten(step, intent.ref), intent));
      // One of two clocks has been set since they were compared; once they agree the stamp is at fault.
      if (isOutOfTime(queued.forward.receivedAt, step.now))
        return askAnewUnlessJustFound(step)
          ? done(unavailable([stampedWrong(queued.forward.entryPeer)], intent.ref))
          : "wait";
      if (isOverdue(step)) return done(busy("Too many changes wait for a member's acknowledgement.", intent.ref));
      if (tired !== undefined) return done(tired);
      // Those that are under way take no room once they are applied.
      if (!hasRoomToPrepare(step, reserved) || roomOfActor(step, queued.actor, reserved) !== "yes") return "wait";
      return step.state.undecided.preparations.size + reserved >= step.capacities.preparations
        ? done(noCapacity([{ peerId: step.self, reason: NO_CAPACITY }]))
        : standing.effectsAt({ proposedAt: step.now, version: step.version });
    default:
      return absurd(standing);
  }
};

const actorOfQueued = ({ actor }: Queued): string => actorName(actor);

const bodyOf = (step: Step, queued: Queued, effects: Uint8Array, seq: number): Proposal => {
  const { membership, now } = step;
  const { crypto, settings } = step.context;
  const { call } = queued.forward;
  return {
    version: step.version,
    clusterId: membership.topology.clusterId,
    epoch: membership.topology.epoch,
    seq,
    topologyDigest: membership.digest,
    configDigest: settings.configDigest,
    writer: step.self,
    kind: queued.intent.kind,
    effects,
    actor: queued.actor,
    request: requestLineOf(call, crypto),
    entryPeer: queued.forward.entryPeer,
    requestId: queued.forward.requestId,
    proposedAt: now,
    expiresAt: Math.min(now + Limits.proposalMillis, queued.tokenExpiresAt, queued.intent.deadline),
    incarnations: membership.peerIds.map((peerId) => step.recordedIncarnation(peerId)),
  };
};

/** Reserves proposals with different locks: rows, locks and the writer's own receipts in one flush. */
const propose = (step: Step): void => {
  const chosen: Array<{
    readonly id: ReturnType<typeof proposalId>;
    readonly proposal: Proposal;
    readonly queued: Queued;
  }> = [];
  const waiting: Array<Queued> = [];
  let roundBytes = 0;
  let isFull = false;
  let seq = Math.max(step.state.undecided.highSeq, step.membership.topology.firstSlot - 1);
  for (const queued of inTurn(step.state.requests.queue, actorOfQueued)) {
    const bytes = bodyBytesOf(queued.forward);
    const fits = hasRoom(step.capacities, chosen.length, roundBytes, bytes);
    if (!fits) isFull = true;
    const disposal = fits ? dispose(step, queued, chosen.length) : "wait";
    if (disposal === "wait") waiting.push(queued);
    if (typeof disposal === "string") continue;
    roundBytes += bytes;
    const proposal = bodyOf(step, queued, disposal, ++seq);
    const id = proposalId(step.context.crypto, proposal);
    hold(step, id, proposal);
    beginRound(step, id, queued.forward, callerOfQueued(queued));
    chosen.push({ id, proposal, queued });
  }
  step.draft("requests").pace = paced(
    step.state.requests.pace,
    step.elapsed,
    step.state.requests.queue.length - waiting.length,
    step.state.requests.queue[0]?.arrivedAt ?? step.elapsed,
    isFull,
  );
  const staying = new Set(waiting);
  step.draft("requests").queue = step.state.requests.queue.filter((queued) => staying.has(queued));
  reserve(
    step,
    chosen.map(({ id, proposal }) => ({ id, proposal, writerReceipt: undefined })),
    (receipts) => {
      // A mono instance then holds every receipt there is.
      if (step.others.length === 0)
        return commitCompleted(
          step,
          chosen.map((each) => each.id),
        );
      const items: Array<PrepareItem> = [];
      receipts.forEach((receipt, index) => {
        const entry = chosen[index];
        if (entry !== undefined) items.push({ proposal: entry.proposal, receipt, evidence: entry.queued.forward });
      });
      step.sendAll({ _tag: "Prepare", items, stableSeq: stableSeq(step) });
    },
  );
};
