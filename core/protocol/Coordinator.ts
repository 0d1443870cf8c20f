/**
 * The writer's side: requests wait in one queue, are judged, and go in batches
 * of lock-disjoint proposals into rounds. What arrives while a round is under
 * way goes into the next one together (protocol.md 3.3, 4h).
 */
import { Either } from "effect";
import { authorize, endsTooSoon, tokenTooShort } from "../registry/Authorization.ts";
import { type Mutation, standingOf } from "../registry/Mutation.ts";
import { permissionOf, type Request, requestOf, type Target, targetOf } from "../registry/Request.ts";
import type { ActorClaims } from "../auth/ActorClaims.ts";
import type { ActorCheck } from "../Event.ts";
import { Limits } from "../Limits.ts";
import type { Queued } from "../PeerState.ts";
import type { MemberFault, Rejection } from "../Rejection.ts";
import type { Turn } from "../Turn.ts";
import { isFinish } from "../enrollment/Finish.ts";
import { judgeFinish } from "../enrollment/FinishAttempts.ts";
import { isOfferedAgain } from "../enrollment/Offered.ts";
import {
  answerExisting,
  answerRejected,
  callerOf,
  callerOfQueued,
  isOfResponse,
  leftOpen,
  type Repeats,
  underWay,
} from "./Answers.ts";
import { type Call, type Forward, isSameRequest, requestKey, requestLineOf } from "./Forward.ts";
import type { PrepareItem } from "./Message.ts";
import { hold, reserve } from "./Preparations.ts";
import {
  credentialLock,
  type Effects,
  keyLock,
  metadataLock,
  type Proposal,
  proposalId,
  refLock,
  sessionLock,
} from "./Proposal.ts";
import { currentVerdict, unreadiness } from "./Readiness.ts";
import { writerPatience } from "./Patience.ts";
import { forgotten, isFromBefore } from "./LateCopy.ts";
import { busy, NO_CAPACITY, noCapacity, unavailable, unready } from "./Unavailable.ts";
import { commitCompleted, isOverdue, stableSeq } from "./Delivery.ts";

/** Whether a forwarded request is waiting here already. */
const isPending = (turn: Turn, forward: Forward): boolean =>
  turn.state.queue.some((each) => isSameRequest(each.forward, forward)) ||
  turn.state.offers.has(requestKey(forward)) ||
  isInRound(turn, forward);

const isInRound = (turn: Turn, forward: Forward): boolean => {
  for (const { creator, joiners } of turn.state.rounds.values()) {
    if (creator !== undefined && isSameRequest(creator, forward)) return true;
    if (joiners.some((joiner) => isSameRequest(joiner.forward, forward))) return true;
  }
  return false;
};

/** A request that came through another peer may be a copy; one that was turned away gets no second chance. */
export const admitForwarded = (turn: Turn, forward: Forward, actor: ActorCheck): void => {
  if (isPending(turn, forward) || isOfferedAgain(turn, forward)) return;
  const turnedAway = turn.state.turnedAway.get(requestKey(forward));
  if (turnedAway !== undefined)
    return answerRejected(turn, callerOf(forward, turn.elapsed, askedOf(turn, forward.call)), turnedAway.rejection);
  const judged = judgeRequest(turn, forward.call, actor);
  if (Either.isRight(judged)) enqueue(turn, forward, judged.right);
  else answerRejected(turn, callerOf(forward, turn.elapsed, askedOf(turn, forward.call)), judged.left);
};

/** What a request asks for, whoever asks; undefined where it cannot be understood. */
export const askedOf = (turn: Turn, call: Call): Target | undefined => targetOf(turn, call);

/** What a request means and who sends it, judged by this peer: all that needs no other member. */
export interface Judged {
  readonly claims: ActorClaims;
  readonly request: Request;
}

export const judgeRequest = (turn: Turn, call: Call, actor: ActorCheck): Either.Either<Judged, Rejection> => {
  const authorized = authorize(turn.context, actor, permissionOf(call));
  if (Either.isLeft(authorized)) return Either.left(authorized.left);
  // What a finish means stands in rows that a peer may not trust before the others have shown it that it may.
  const reason = isFinish(call) ? unreadiness(turn) : undefined;
  if (reason !== undefined) return Either.left(unavailable([{ peerId: turn.self, reason }], undefined));
  const claims = authorized.right;
  const request = isFinish(call) ? judgeFinish(turn, call, claims) : requestOf(turn, call);
  return Either.map(request, (asked) => ({ claims, request: asked }));
};

/**
 * What the writer holds for callers: requests that are queued or have joined another one, and the bodies in memory, of
 * these and of what is prepared and may have to be sent again.
 */
const held = ({ state }: Turn): { readonly requests: number; readonly bytes: number } => {
  let requests = state.queue.length + state.offers.size;
  let bytes = 0;
  for (const { forward } of state.queue) bytes += forward.call.rawBody.length;
  for (const { forward } of state.offers.values()) bytes += forward.call.rawBody.length;
  for (const { evidence, joiners } of state.rounds.values()) {
    bytes += evidence?.call.rawBody.length ?? 0;
    requests += joiners.length;
    for (const { forward } of joiners) bytes += forward.call.rawBody.length;
  }
  return { requests, bytes };
};

/** Queues a request that was judged well-formed and permitted, if there is room. */
export const enqueue = (turn: Turn, forward: Forward, { claims, request }: Judged): void => {
  const arrivedAt = turn.elapsed;
  const { requests, bytes } = held(turn);
  if (requests >= Limits.queuedCommands || bytes + forward.call.rawBody.length > Limits.queuedBytes) {
    const refusal = busy("The writer has as much waiting as it may.", request.ref);
    return answerRejected(turn, callerOf(forward, arrivedAt, request), refusal);
  }
  turn.arm("answers", writerPatience(turn));
  const { iss, sub, jti, expiresAt: tokenExpiresAt } = claims;
  const actor = { iss, sub, jti };
  if (request.kind === "OPTIONS")
    turn.edit("offers").set(requestKey(forward), { forward, actor, tokenExpiresAt, enrollment: request, arrivedAt });
  else turn.state.queue = [...turn.state.queue, { forward, actor, tokenExpiresAt, mutation: request, arrivedAt }];
};

/**
 * Starts the next round if there is one to start; called at the end of every
 * event. A mono instance has nobody to wait for, so it waits for its mailbox:
 * what came in while a flush was under way is all queued before the timer fires.
 */
export const advance = (turn: Turn): void => {
  if (!turn.isWriter || turn.state.queue.length === 0 || turn.state.collecting.size > 0) return;
  if (turn.others.length === 0) turn.arm("propose", 0);
  else startRound(turn);
};

export const onProposeTimer = (turn: Turn): void => {
  if (turn.state.queue.length > 0) startRound(turn);
};

const startRound = (turn: Turn): void => {
  const verdict = currentVerdict(turn);
  if (verdict === undefined) return;
  if (verdict.faults.length > 0) failQueue(turn, verdict.faults);
  else propose(turn);
};

/** Nothing is reserved while a member is missing: everybody waiting is told which one and why. */
const failQueue = (turn: Turn, found: ReadonlyArray<MemberFault>): void => {
  turn.state.verdict = undefined;
  const waiting = turn.state.queue;
  turn.state.queue = [];
  for (const queued of waiting) answerRejected(turn, callerOfQueued(queued), unready(found, queued.mutation.ref));
};

/** Proposed with these effects, left to wait, or answered. */
type Disposal = Effects | "wait" | "done";

/** A registration joins the round that is registering the same approver; false where it cannot. */
const hasJoined = (turn: Turn, queued: Queued): boolean => {
  const { locks, rounds } = turn.state;
  const { mutation } = queued;
  const holder = mutation.kind === "METADATA" ? undefined : locks.get(refLock(mutation.ref));
  const round = holder && rounds.get(holder);
  // Without evidence nobody can still be asked to prepare it: how it is settled decides about this one too.
  if (round === undefined || (round.evidence === undefined && round.certificate === undefined)) return false;
  // Another response to the same session is another request: it waits for what becomes of this one.
  if (mutation.kind === "FINISH" && !isOfResponse(underWay(turn.state, refLock(mutation.ref)), mutation)) return false;
  turn.edit("rounds").set(round.id, { ...round, joiners: [...round.joiners, queued] });
  return true;
};

/**
 * Whether something undecided decides about this one too: a change of the same approver, or a claim of the same
 * key. An approver under change is not shown to whoever registers it again, as not every member may have it yet.
 */
const isHeldUp = ({ state: { locks } }: Turn, mutation: Mutation): boolean => {
  if (locks.has(metadataLock(mutation.ref))) return true;
  if (mutation.kind === "METADATA") return false;
  if (locks.has(keyLock(mutation.keyIdentity))) return true;
  return (
    mutation.kind === "FINISH" &&
    (locks.has(credentialLock(mutation.credentialIdentity)) || locks.has(sessionLock(mutation.response.registrationId)))
  );
};

/** What becomes of a queued request now: it joins a round, waits, is answered from what is decided, or is proposed. */
const dispose = (turn: Turn, queued: Queued, reserved: number): Disposal => {
  const { mutation, tokenExpiresAt } = queued;
  const caller = callerOfQueued(queued);
  const done = (refusal: Rejection, repeats?: Repeats): Disposal => {
    answerRejected(turn, caller, refusal, repeats);
    return "done";
  };
  if (endsTooSoon(turn, tokenExpiresAt)) return done(tokenTooShort);
  if (hasJoined(turn, queued)) return "done";
  // Before any row is read, because whoever waits is asked again at every event.
  if (isHeldUp(turn, mutation)) return "wait";
  const standing = standingOf(turn, mutation);
  switch (standing._tag) {
    case "Done":
      answerExisting(turn, caller, standing.approver);
      return "done";
    case "Impossible":
      return done(standing.rejection, standing.isFinal ? "by itself" : "only if remembered");
    case "Possible":
      // What this peer said no to, and does not remember, would now succeed behind its caller's back.
      if (isFromBefore(turn, queued.forward)) return done(leftOpen(forgotten(turn, mutation.ref), caller));
      if (isOverdue(turn)) return done(busy("Too many changes wait for a member's acknowledgement.", mutation.ref));
      return turn.state.preparations.size + reserved >= Limits.preparations
        ? done(noCapacity([{ peerId: turn.self, reason: NO_CAPACITY }]))
        : standing.effectsAt(turn.now);
  }
};

const bodyOf = (turn: Turn, queued: Queued, effects: Effects, seq: number): Proposal => {
  const { membership, now } = turn;
  const { crypto, settings } = turn.context;
  const { call } = queued.forward;
  const deadline = queued.mutation.kind === "FINISH" ? queued.mutation.deadline : Number.POSITIVE_INFINITY;
  return {
    clusterId: membership.topology.clusterId,
    epoch: membership.topology.epoch,
    seq,
    topologyDigest: membership.digest,
    configDigest: settings.configDigest,
    writer: turn.self,
    kind: queued.mutation.kind,
    effects,
    actor: queued.actor,
    request: requestLineOf(crypto, call),
    entryPeer: queued.forward.entryPeer,
    requestId: queued.forward.requestId,
    proposedAt: now,
    expiresAt: Math.min(now + Limits.proposalMillis, queued.tokenExpiresAt, deadline),
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
  let evidenceBytes = 0;
  let seq = turn.state.highSeq;
  for (const queued of turn.state.queue) {
    const bytes = queued.forward.call.rawBody.length;
    // A body always fits that has the round to itself.
    const fits = chosen.length < Limits.batchProposals && evidenceBytes + bytes <= Limits.batchEvidenceBytes;
    const disposal = fits ? dispose(turn, queued, chosen.length) : "wait";
    if (disposal === "wait") waiting.push(queued);
    if (typeof disposal === "string") continue;
    evidenceBytes += bytes;
    const proposal = bodyOf(turn, queued, disposal, ++seq);
    const id = proposalId(turn.context.crypto, proposal);
    hold(turn, id, proposal);
    turn.edit("rounds").set(id, {
      id,
      evidence: queued.forward,
      refusal: undefined,
      certificate: undefined,
      creator: callerOfQueued(queued),
      joiners: [],
    });
    turn.edit("collecting").add(id);
    chosen.push({ id, proposal, queued });
  }
  turn.state.queue = waiting;
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
