/**
 * The writer's side: requests wait in one queue, are judged, and go in batches
 * of lock-disjoint proposals into rounds. What arrives while a round is under
 * way goes into the next one together (protocol.md 3.3, 4h).
 */
import { absurd, Either } from "effect";
import type { ActorClaims } from "../auth/ActorClaims.ts";
import { authorize, endsTooSoon } from "../auth/Authorization.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";
import type { Queued, Request } from "./Requests.ts";
import type { MemberFault, Rejection } from "../base/Rejection.ts";
import type { Turn } from "./Turn.ts";
import { answerExisting, answerRejected, callerOf, callerOfQueued, leftOpen, type Repeats } from "./Answers.ts";
import { isOutOfTime, stampedWrong } from "./Clocks.ts";
import { commandFor, exchangeFor, type Intent, isIntent, type Target, unrecognized } from "./Command.ts";
import { type Call, type Forward, isSameRequest, requestLineOf } from "./Forward.ts";
import type { PrepareItem } from "./Message.ts";
import { actorName, inTurn, makingRoom, paced, placesAt, type Share } from "./Admission.ts";
import { hold } from "./Lifecycle.ts";
import { reserve } from "./Preparations.ts";
import { addJoiner, beginRound } from "./Rounds.ts";
import { type Proposal, proposalId } from "./Proposal.ts";
import { currentVerdict, askAnewUnlessJustFound, unreadiness } from "./Readiness.ts";
import { writerPatience } from "./Patience.ts";
import { forgotten, isFromBefore } from "./LateCopy.ts";
import { asMember, busy, crowded, NO_CAPACITY, noCapacity, unavailable, unready } from "./Unavailable.ts";
import { commitCompleted, isOverdue, stableSeq } from "./Delivery.ts";

/** Whether a forwarded request is waiting here already. */
const isPending = (turn: Turn, forward: Forward): boolean =>
  turn.state.requests.queue.some((each) => isSameRequest(each.forward, forward)) ||
  isInExchange(turn, forward) ||
  isInRound(turn, forward);

const isInExchange = (turn: Turn, forward: Forward): boolean => {
  for (const exchange of turn.context.commands.exchanges.values())
    for (const admitted of exchange.underWay(turn)) if (isSameRequest(admitted.forward, forward)) return true;
  return false;
};

const isInRound = (turn: Turn, forward: Forward): boolean => {
  for (const { creator, joiners } of turn.state.undecided.rounds.values()) {
    if (creator !== undefined && isSameRequest(creator, forward)) return true;
    if (joiners.some((joiner) => isSameRequest(joiner.forward, forward))) return true;
  }
  return false;
};

/** Every exchange is asked, whatever the request is: that is when it forgets answers that are of no use any more. */
const isAnsweredAgain = (turn: Turn, forward: Forward): boolean => {
  for (const exchange of turn.context.commands.exchanges.values()) if (exchange.answerAgain(turn, forward)) return true;
  return false;
};

/** A request that came through another peer may be a copy; one that was turned away gets no second chance. */
export const admitForwarded = (turn: Turn, forward: Forward, actor: ActorCheck): void => {
  if (isPending(turn, forward) || isAnsweredAgain(turn, forward)) return;
  const turnedAway = turn.state.requests.turnedAway.get(forward.entryPeer)?.get(forward.requestId);
  if (turnedAway !== undefined)
    return answerRejected(turn, callerOf(forward, turn.elapsed, askedOf(turn, forward.call)), turnedAway.rejection);
  const judged = judgeRequest(turn, forward.call, actor);
  if (Either.isRight(judged)) enqueue(turn, forward, judged.right);
  else answerRejected(turn, callerOf(forward, turn.elapsed, askedOf(turn, forward.call)), judged.left);
};

/** What a request asks for, whoever asks; undefined where it cannot be understood. */
export const askedOf = (turn: Turn, call: Call): Target | undefined => {
  const { commands } = turn.context;
  const exchange = exchangeFor(commands, call);
  return exchange === undefined
    ? commandFor(commands, call)?.targetOf(turn.context, call)
    : Either.getOrUndefined(exchange.parse(turn, call));
};

/** What a request means and who sends it, judged by this peer: all that needs no other member. */
export interface Judged {
  readonly claims: ActorClaims;
  readonly request: Request;
}

export const judgeRequest = (turn: Turn, call: Call, actor: ActorCheck): Either.Either<Judged, Rejection> => {
  const exchange = exchangeFor(turn.context.commands, call);
  const command = commandFor(turn.context.commands, call);
  const authorized = authorize(turn.context, actor, (exchange ?? command)?.permission);
  if (Either.isLeft(authorized)) return Either.left(asMember(turn.self, authorized.left));
  // A peer may not trust its rows before the others have shown it that it may.
  const reason = command?.needsRows === true ? unreadiness(turn) : undefined;
  if (reason !== undefined) return Either.left(unavailable([{ peerId: turn.self, reason }], undefined));
  const claims = authorized.right;
  const request: Either.Either<Request, Rejection> =
    exchange?.parse(turn, call) ?? command?.admit(turn, call, claims) ?? Either.left(unrecognized);
  return Either.mapBoth(request, {
    onLeft: (refusal) => asMember(turn.self, refusal),
    onRight: (asked) => ({ claims, request: asked }),
  });
};

const shareOf = ({ forward, actor }: Pick<Queued, "forward" | "actor">): Share => ({
  actor: actorName(actor),
  bytes: forward.call.rawBody.length,
});

/** What the writer holds for callers beside its queue: exchanges, and requests that have joined another one. */
const heldBesides = (turn: Turn): ReadonlyArray<Share> => {
  const shares: Array<Share> = [];
  for (const exchange of turn.context.commands.exchanges.values())
    for (const admitted of exchange.underWay(turn)) shares.push(shareOf(admitted));
  for (const { joiners } of turn.state.undecided.rounds.values())
    for (const joiner of joiners) shares.push(shareOf(joiner));
  return shares;
};

/** Bytes of bodies that may have to be sent again: of what is prepared, whoever waits for it. */
const evidenceBytes = ({ state }: Turn): number => {
  let bytes = 0;
  for (const { evidence } of state.undecided.rounds.values()) bytes += evidence?.call.rawBody.length ?? 0;
  return bytes;
};

/** Makes room for one more by turning away the newest of whoever holds most; false where that is the new one's actor. */
const makeRoom = (turn: Turn, arrival: Share): boolean => {
  const {
    requests: { pace, queue },
  } = turn.state;
  const going = makingRoom(queue.map(shareOf), arrival, heldBesides(turn), {
    requests: placesAt(pace, turn.context.settings, writerPatience(turn)),
    bytes: Math.max(0, Limits.queuedBytes - evidenceBytes(turn)),
  });
  if (going === undefined) return false;
  if (going.size === 0) return true;
  turn.draft("requests").queue = queue.filter((_, index) => !going.has(index));
  for (const index of going) {
    const gone = queue[index];
    if (gone !== undefined) answerRejected(turn, callerOfQueued(gone), full(gone.intent.ref));
  }
  return true;
};

const full = (ref: string | undefined): Rejection => crowded("The writer has as much waiting as it may.", ref);

/** Queues a request that was judged well-formed and permitted, if there is room. */
export const enqueue = (turn: Turn, forward: Forward, { claims, request }: Judged): void => {
  const arrivedAt = turn.elapsed;
  const { iss, sub, jti, expiresAt: tokenExpiresAt } = claims;
  const actor = { iss, sub, jti };
  if (!makeRoom(turn, shareOf({ forward, actor })))
    return answerRejected(turn, callerOf(forward, arrivedAt, request), full(request.ref));
  turn.arm("answers", writerPatience(turn));
  const admitted = { forward, actor, tokenExpiresAt, arrivedAt };
  if (isIntent(request)) {
    const isFirst = !isFromBefore(turn, forward);
    turn.draft("requests").queue = [...turn.state.requests.queue, { ...admitted, intent: request, isFirst }];
  } else turn.context.commands.exchanges.get(request.kind)?.accept(turn, admitted, request);
};

/**
 * Starts the next round if there is one to start; called at the end of every
 * event. A mono instance has nobody to wait for, so it waits for its mailbox:
 * what came in while a flush was under way is all queued before the timer fires.
 */
export const advance = (turn: Turn): void => {
  if (!turn.isWriter || turn.state.requests.queue.length === 0 || turn.state.undecided.collecting.size > 0) return;
  if (turn.others.length === 0) turn.arm("propose", 0);
  else startRound(turn);
};

export const onProposeTimer = (turn: Turn): void => {
  if (turn.state.requests.queue.length > 0) startRound(turn);
};

const startRound = (turn: Turn): void => {
  const verdict = currentVerdict(turn);
  if (verdict === undefined) return;
  if (verdict.faults.length > 0) failQueue(turn, verdict.faults);
  else propose(turn);
};

/** Nothing is reserved while a member is missing: everybody waiting is told which one and why. */
const failQueue = (turn: Turn, found: ReadonlyArray<MemberFault>): void => {
  turn.draft("probing").verdict = undefined;
  const waiting = turn.state.requests.queue;
  turn.draft("requests").queue = [];
  for (const queued of waiting) answerRejected(turn, callerOfQueued(queued), unready(found, queued.intent.ref));
};

/** Proposed with these effects, left to wait, or answered. */
type Disposal = Uint8Array | "wait" | "done";

/** Lets an intent join the round whose outcome is its own too, and returns whether there is one. */
const joinRound = (turn: Turn, queued: Queued): boolean => {
  const { intent } = queued;
  const holder = turn.command(intent).coalescesWith(turn.state, intent);
  const round = holder && turn.state.undecided.rounds.get(holder);
  // Without evidence nobody can still be asked to prepare it: how it is settled decides about this one too.
  if (round === undefined || (round.evidence === undefined && round.certificate === undefined)) return false;
  addJoiner(turn, round.id, queued);
  return true;
};

/**
 * Whether something undecided decides about this one too: it changes the same, or claims the same. What is under
 * change is not shown to whoever asks for it again, as not every member may have it yet.
 */
const isHeldUp = (turn: Turn, { locks }: Intent): boolean => locks.some((lock) => turn.isLocked(lock));

/** What becomes of a queued request now: it joins a round, waits, is answered from what is decided, or is proposed. */
const dispose = (turn: Turn, queued: Queued, reserved: number): Disposal => {
  const { intent, tokenExpiresAt } = queued;
  const caller = callerOfQueued(queued);
  const done = (refusal: Rejection, repeats?: Repeats): Disposal => {
    answerRejected(turn, caller, refusal, repeats);
    return "done";
  };
  const tooSoon = endsTooSoon(turn.context, tokenExpiresAt);
  if (tooSoon !== undefined) return done(asMember(turn.self, tooSoon));
  if (joinRound(turn, queued)) return "done";
  // Before any row is read, because whoever waits is asked again at every event.
  if (isHeldUp(turn, intent)) return "wait";
  const standing = turn.command(intent).check(turn, intent);
  switch (standing._tag) {
    case "Done":
      answerExisting(turn, caller, intent, standing.name);
      return "done";
    case "Impossible":
      return done(asMember(turn.self, standing.rejection), standing.isFinal ? "by itself" : "only if remembered");
    case "Possible":
      // What this peer said no to, and does not remember, would now succeed behind its caller's back.
      if (!queued.isFirst && isFromBefore(turn, queued.forward))
        return done(leftOpen(turn.context.commands, forgotten(turn, intent.ref), intent));
      // One of two clocks has been set since they were held against each other; once they agree it is the stamp.
      if (isOutOfTime(queued.forward.receivedAt, turn.now))
        return askAnewUnlessJustFound(turn)
          ? done(unavailable([stampedWrong(queued.forward.entryPeer)], intent.ref))
          : "wait";
      if (isOverdue(turn)) return done(busy("Too many changes wait for a member's acknowledgement.", intent.ref));
      return turn.state.undecided.preparations.size + reserved >= Limits.preparations
        ? done(noCapacity([{ peerId: turn.self, reason: NO_CAPACITY }]))
        : standing.effectsAt({ proposedAt: turn.now, version: turn.version });
    default:
      return absurd(standing);
  }
};

const actorOfQueued = ({ actor }: Queued): string => actorName(actor);

const bodyOf = (turn: Turn, queued: Queued, effects: Uint8Array, seq: number): Proposal => {
  const { membership, now } = turn;
  const { crypto, settings } = turn.context;
  const { call } = queued.forward;
  return {
    version: turn.version,
    clusterId: membership.topology.clusterId,
    epoch: membership.topology.epoch,
    seq,
    topologyDigest: membership.digest,
    configDigest: settings.configDigest,
    writer: turn.self,
    kind: queued.intent.kind,
    effects,
    actor: queued.actor,
    request: requestLineOf(call, crypto),
    entryPeer: queued.forward.entryPeer,
    requestId: queued.forward.requestId,
    proposedAt: now,
    expiresAt: Math.min(now + Limits.proposalMillis, queued.tokenExpiresAt, queued.intent.deadline),
    incarnations: membership.peerIds.map((peerId) => turn.recordedIncarnation(peerId)),
  };
};

/** Reserves a batch of lock-disjoint proposals: rows, locks and the writer's own receipts in one flush. */
const propose = (turn: Turn): void => {
  const chosen: Array<{
    readonly id: ReturnType<typeof proposalId>;
    readonly proposal: Proposal;
    readonly queued: Queued;
  }> = [];
  const waiting: Array<Queued> = [];
  let roundBytes = 0;
  let isFull = false;
  let seq = turn.state.undecided.highSeq;
  for (const queued of inTurn(turn.state.requests.queue, actorOfQueued)) {
    const bytes = queued.forward.call.rawBody.length;
    // A body always fits that has the round to itself.
    const fits = chosen.length < Limits.batchProposals && roundBytes + bytes <= Limits.batchEvidenceBytes;
    if (!fits) isFull = true;
    const disposal = fits ? dispose(turn, queued, chosen.length) : "wait";
    if (disposal === "wait") waiting.push(queued);
    if (typeof disposal === "string") continue;
    roundBytes += bytes;
    const proposal = bodyOf(turn, queued, disposal, ++seq);
    const id = proposalId(turn.context.crypto, proposal);
    hold(turn, id, proposal);
    beginRound(turn, id, queued.forward, callerOfQueued(queued));
    chosen.push({ id, proposal, queued });
  }
  turn.draft("requests").pace = paced(
    turn.state.requests.pace,
    turn.elapsed,
    turn.state.requests.queue.length - waiting.length,
    isFull,
  );
  const staying = new Set(waiting);
  turn.draft("requests").queue = turn.state.requests.queue.filter((queued) => staying.has(queued));
  reserve(
    turn,
    chosen.map(({ id, proposal }) => ({ id, proposal, writerReceipt: undefined })),
    (receipts) => {
      // A mono instance holds every receipt there is.
      if (turn.others.length === 0)
        return commitCompleted(
          turn,
          chosen.map((each) => each.id),
        );
      const items: Array<PrepareItem> = [];
      receipts.forEach((receipt, index) => {
        const entry = chosen[index];
        if (entry !== undefined) items.push({ proposal: entry.proposal, receipt, evidence: entry.queued.forward });
      });
      turn.sendAll({ _tag: "Prepare", items, stableSeq: stableSeq(turn) });
    },
  );
};
