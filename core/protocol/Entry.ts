/**
 * A request's way in, through any peer, until its answer or until its time is
 * up. Outcome.ts judges what the writer says became of it.
 */
import { Either } from "effect";
import { utf8Length } from "../codec/Utf8.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { authorize } from "../auth/Authorization.ts";
import type { Event } from "./Event.ts";
import { Limits } from "../base/Limits.ts";
import { type MemberFault, type Rejection, rejection } from "../base/Rejection.ts";
import { type Awaited, type Caller, type Entering, acceptedByWriter } from "./Requests.ts";
import type { Round } from "./Undecided.ts";
import type { Step } from "./Step.ts";
import {
  actorName,
  forwardsAhead,
  forwardsAtOnce,
  inTurn,
  makingRoom,
  paced,
  placesAt,
  type Share,
} from "./Admission.ts";
import { answerRejected, callerOf, callerOfQueued, callersOf, leftOpen } from "./Answers.ts";
import { commandFor, type Intent, serviceFor } from "./Command.ts";
import { admitForwarded, askedOf, enqueue, judgeRequest } from "./Coordinator.ts";
import { attest, type Call, type Forward, isAttested } from "./Forward.ts";
import { entryPatience, writerPatience } from "./Patience.ts";
import type { MessageOf } from "./Message.ts";
import { notReadyReason } from "./Readiness.ts";
import { askStored, missingAt } from "./Stored.ts";
import type { PeerId } from "./Topology.ts";
import { keepWaiting } from "./Rounds.ts";
import { asMember, busy, crowded, IS_SEALED, notInitialized, unavailable } from "./Unavailable.ts";

const FORWARD_AGAIN_MILLIS = 500;
/** If the outcome of an acknowledged request does not come, it may have been lost on the way. */
const OUTCOME_AGAIN_MILLIS = 2_000;

/** Whether the header can travel; its content is judged with the rest of the request. */
const fitsIfMatch = (header: string | undefined): boolean =>
  header === undefined || (utf8Length(header) ?? Number.POSITIVE_INFINITY) <= Limits.ifMatchBytes;

const reasonHere = (step: Step): Rejection =>
  unavailable([{ peerId: step.self, reason: notReadyReason(step) ?? "" }], undefined);

/** A service says in words of its own that it is not done here. */
const refusalHere = (step: Step, call: Call): Rejection =>
  serviceFor(step.context.commands, call)?.notHere?.(step.self, notReadyReason(step) ?? "") ?? reasonHere(step);

type Command = Extract<Event, { readonly _tag: "Command" }>;

/** Answers a caller of a peer that can take no part in anything. */
export const rejectCommand = (step: Step, { requestId, call }: Command): void => {
  const rejected = step.mode === "blank" ? notInitialized : refusalHere(step, call);
  step.reply(requestId, { _tag: "Rejected", rejection: rejected });
};

export const onCommand = (step: Step, event: Command): void => {
  const { requestId, call, token, actor } = event;
  const refuse = (rejected: ReturnType<typeof rejection>): void =>
    step.reply(requestId, { _tag: "Rejected", rejection: rejected });
  const service = serviceFor(step.context.commands, call);
  if (call.rawBody.length > (service?.bodyBytes ?? Limits.requestBodyBytes) || !fitsIfMatch(call.ifMatch))
    return refuse(rejection("INVALID_REQUEST_BODY", "The body or the If-Match header is too large.", "Send less."));
  if (service !== undefined) {
    const allowed = authorize(step.context, actor, service.permissionsOf(call));
    if (Either.isLeft(allowed)) return refuse(asMember(step.self, allowed.left));
    return service.accept(step, { requestId, call, token, claims: allowed.right });
  }
  if (!step.isWriter && isCrowdedFor(step, actor, call)) return refuse(full);
  // Judged here first, so that the faults of a request do not depend on the writer.
  const judged = judgeRequest(step, call, actor);
  if (Either.isLeft(judged)) return refuse(openWhereReserved(step, call, judged.left));
  const { signer, crypto } = step.context;
  if (signer === undefined) return refuse(unavailable([{ peerId: step.self, reason: IS_SEALED }], undefined));
  if (step.isWriter) {
    return enqueue(step, attest(crypto, signer, step.membership, received(step, requestId, call, token)), judged.right);
  }
  const { claims, request } = judged.right;
  const entering = { requestId, call, token, actor: actorName(claims), request, arrivedAt: step.elapsed };
  if (!makeRoom(step, entering)) return refuse(full);
  step.draft("requests").entering = [...step.state.requests.entering, entering];
  step.arm("answers", entryPatience(step));
  forwardNext(step);
};

const received = (step: Step, requestId: string, call: Call, token: string): Omit<Forward, "attestation"> => {
  const { version, self: entryPeer, now: receivedAt, moment: arrival } = step;
  return { version, requestId, entryPeer, call, token, receivedAt, arrival };
};

const full = crowded("This peer has as many requests under way as it may.", undefined);

const shareOf = ({ actor, call }: Pick<Entering, "actor" | "call">): Share => ({ actor, bytes: call.rawBody.length });

/** Which requests have to go for one more; see {@link makingRoom}. */
const leaving = (step: Step, arrival: Share): ReadonlySet<number> | undefined => {
  const {
    requests: { awaited, entering, pace },
  } = step.state;
  const underWay = Array.from(awaited.values(), ({ actor, forward }) => shareOf({ actor, call: forward.call }));
  return makingRoom(entering.map(shareOf), arrival, underWay, {
    requests: placesAt(pace, step.capacities, entryPatience(step)),
    bytes: Limits.queuedBytes,
  });
};

/** Makes room by turning away the newest of the actor that holds most; false where that is the new one's actor. */
const makeRoom = (step: Step, arrival: Entering): boolean => {
  const {
    requests: { entering },
  } = step.state;
  const going = leaving(step, shareOf(arrival));
  if (going === undefined) return false;
  if (going.size === 0) return true;
  step.draft("requests").entering = entering.filter((_, index) => !going.has(index));
  for (const index of going) {
    const gone = entering[index];
    if (gone !== undefined) step.reply(gone.requestId, { _tag: "Rejected", rejection: full });
  }
  return true;
};

/** Whether a request would be turned away for lack of room: to say so costs little, to judge it costs much. */
const isCrowdedFor = (step: Step, check: ActorCheck, { rawBody }: Call): boolean =>
  check._tag === "Verified" && leaving(step, { actor: actorName(check.claims), bytes: rawBody.length }) === undefined;

/** How many may be forwarded now; see {@link forwardsAhead}. */
const mayForward = ({ state, capacities }: Step): number => {
  const room = forwardsAtOnce(capacities) - state.requests.awaited.size;
  for (const { acknowledged, denial, storedAt, serial } of state.requests.awaited.values())
    if (!acknowledged && denial === undefined && storedAt === undefined)
      return Math.min(room, forwardsAhead(capacities) - (state.requests.forwarded - serial));
  return room;
};

/**
 * Forwards those whose turn it is, as many as the writer may have from this peer at once; called at the end of every
 * event. The rest wait here, where they cost the writer nothing and can be turned away for certain.
 */
export const forwardNext = (step: Step): void => {
  const {
    requests: { entering, awaited },
  } = step.state;
  if (entering.length === 0) return;
  const { signer, crypto } = step.context;
  const room = mayForward(step);
  if (room <= 0 || signer === undefined) return;
  const underWay = new Map<string, number>();
  for (const { actor } of awaited.values()) underWay.set(actor, (underWay.get(actor) ?? 0) + 1);
  const next = inTurn(entering, ({ actor }) => actor, underWay).slice(0, room);
  for (const { requestId, call, token, actor, request, arrivedAt } of next) {
    const forward = attest(crypto, signer, step.membership, received(step, requestId, call, token));
    step.draft("requests").forwarded += 1;
    step.edit("requests", "awaited").set(requestId, {
      forward,
      actor,
      serial: step.state.requests.forwarded,
      request,
      acknowledged: false,
      isApplied: false,
      denial: undefined,
      storedAt: undefined,
      arrivedAt,
      forwardedAt: step.elapsed,
      sentAt: step.elapsed,
    });
    step.send(step.membership.writer, { _tag: "Forward", forward });
  }
  const left = new Set(next);
  step.draft("requests").entering = entering.filter((each) => !left.has(each));
  step.draft("requests").pace = paced(
    step.state.requests.pace,
    step.elapsed,
    next.length,
    entering[0]?.arrivedAt ?? step.elapsed,
    step.state.requests.entering.length > 0,
  );
  step.arm("forward", FORWARD_AGAIN_MILLIS);
};

/** A refused copy of a request says nothing about an earlier copy, which the members may yet complete. */
const openWhereReserved = (step: Step, call: Call, rejected: Rejection): Rejection => {
  const reserved = commandFor(step.context.commands, call)?.reservedFor(step, call, rejected);
  return reserved === undefined ? rejected : leftOpen(step.context.commands, rejected, reserved);
};

/** Whether this peer is the writer that must answer it, and its entry peer vouches for it. */
const isForWriter = (step: Step, from: PeerId, forward: Forward): boolean =>
  from === forward.entryPeer && step.isWriter && isAttested(step.context.crypto, step.membership, forward);

/** Answers a request that entered elsewhere where the writer can take no part in anything. */
export const rejectForward = (step: Step, from: PeerId, forward: Forward): void => {
  if (!isForWriter(step, from, forward)) return;
  answerRejected(step, callerOf(forward, step.elapsed, askedOf(step, forward.call)), reasonHere(step));
};

/** A request that entered elsewhere; the writer checks the token for itself, as every member will. */
export const onForward = (step: Step, from: PeerId, forward: Forward, actor: ActorCheck): void => {
  if (!isForWriter(step, from, forward)) return;
  step.send(from, { _tag: "Forwarded", requestId: forward.requestId });
  admitForwarded(step, forward, actor);
};

export const onForwarded = (step: Step, from: PeerId, { requestId }: MessageOf<"Forwarded">): void => {
  const awaited = step.state.requests.awaited.get(requestId);
  if (awaited === undefined || from !== step.membership.writer) return;
  step.edit("requests", "awaited").set(requestId, acceptedByWriter(awaited));
};

/**
 * Forwards again what the writer has not acknowledged. A writer that says nothing at all counts as unavailable, and
 * requests that wait for their turn are told the same; as long as it says anything, it is only busy.
 */
export const onForwardTimer = (step: Step): void => {
  if (step.state.requests.awaited.size === 0) return;
  const isSilent = step.elapsed - step.state.probing.writerHeardAt >= Limits.probeWaitMillis;
  const silent = { peerId: step.membership.writer, reason: "it does not answer" };
  let isGivenUp = false;
  for (const [requestId, awaited] of step.state.requests.awaited) {
    const { forward, request, acknowledged, storedAt, forwardedAt, sentAt } = awaited;
    if (storedAt !== undefined) {
      if (step.elapsed - sentAt >= FORWARD_AGAIN_MILLIS) askStored(step, requestId, awaited);
      continue;
    }
    if (step.elapsed - sentAt < (acknowledged ? OUTCOME_AGAIN_MILLIS : FORWARD_AGAIN_MILLIS)) continue;
    if (!acknowledged && isSilent && step.elapsed - forwardedAt >= Limits.probeWaitMillis) {
      isGivenUp = true;
      step.edit("requests", "awaited").delete(requestId);
      // A lost acknowledgement looks the same as a lost request, so the outcome stays open.
      const rejected = leftOpen(step.context.commands, unavailable([silent], undefined), request);
      step.reply(requestId, { _tag: "Rejected", rejection: rejected });
      continue;
    }
    step.edit("requests", "awaited").set(requestId, { ...awaited, sentAt: step.elapsed });
    step.send(step.membership.writer, { _tag: "Forward", forward });
  }
  if (isGivenUp) turnAway(step, step.state.requests.entering, unavailable([silent], undefined));
  step.arm("forward", FORWARD_AGAIN_MILLIS);
};

/** Answers some requests that wait for their turn; none of them has left this peer. */
const turnAway = (step: Step, leaving: ReadonlyArray<Entering>, rejected: Rejection): void => {
  if (leaving.length === 0) return;
  for (const { requestId, request } of leaving)
    step.reply(requestId, { _tag: "Rejected", rejection: { ...rejected, ref: rejected.ref ?? request.ref } });
  step.draft("requests").entering = step.state.requests.entering.filter((each) => !leaving.includes(each));
};

/** No caller waits longer than promised: those still open are told that the outcome is unknown. */
export const onAnswersTimer = (step: Step): void => {
  const deadlines: Array<number> = [];
  const isLate = (arrivedAt: number, patience: number): boolean => {
    const deadline = arrivedAt + patience;
    if (deadline > step.elapsed) deadlines.push(deadline);
    return deadline <= step.elapsed;
  };
  const isDue = ({ arrivedAt }: { readonly arrivedAt: number }): boolean => isLate(arrivedAt, writerPatience(step));
  const waited = step.state.requests.entering.filter(({ arrivedAt }) => isLate(arrivedAt, entryPatience(step)));
  turnAway(step, waited, busy("The request waited for its turn too long; nothing was reserved.", undefined));
  const late = step.state.requests.queue.filter(isDue);
  for (const queued of late) answerRejected(step, callerOfQueued(queued), waitedTooLong(step, queued.intent));
  step.draft("requests").queue = step.state.requests.queue.filter((queued) => !late.includes(queued));
  for (const exchange of step.context.commands.exchanges.values())
    for (const admitted of [...exchange.underWay(step)].filter(isDue)) exchange.giveUp(step, admitted);
  for (const round of step.state.undecided.rounds.values()) answerLate(step, round, isDue);
  for (const [requestId, awaited] of step.state.requests.awaited) {
    if (!isLate(awaited.arrivedAt, entryPatience(step))) continue;
    step.edit("requests", "awaited").delete(requestId);
    step.reply(requestId, {
      _tag: "Rejected",
      rejection: leftOpen(step.context.commands, notInTime(step, awaited), awaited.request),
    });
  }
  if (deadlines.length > 0) step.arm("answers", Math.max(1, Math.min(...deadlines) - step.elapsed));
};

const notInTime = (step: Step, { request, storedAt }: Awaited): Rejection =>
  storedAt === undefined
    ? busy("The writer has not answered in time; the outcome is not known yet.", request.ref)
    : {
        ...busy("Not every member has said in time that it stores the change.", request.ref),
        members: missingAt(step, storedAt).map((peerId) => ({ peerId, reason: "it has not said that it stores it" })),
      };

/** Where an earlier change may come to what was asked for, the outcome stays open. */
const waitedTooLong = (step: Step, intent: Intent): Rejection => {
  const change = step.command(intent).heldUpBy(step.state, intent);
  return change === undefined
    ? busy("The request waited for its turn too long; nothing was reserved.", intent.ref)
    : busy("An earlier change of the same approver or key is still undecided.", intent.ref, change === "own result");
};

/** The members whose receipt a round still lacks or, once it is certified, whose acknowledgement. */
const missingIn = ({ state, others }: Step, { id, certificate }: Round): ReadonlyArray<MemberFault> => {
  const [present, reason] =
    certificate === undefined
      ? [state.undecided.preparations.get(id)?.receipts, "it has not confirmed the preparation"]
      : [state.undecided.outbox.get(certificate.proposal.seq)?.acks, "it has not acknowledged the change"];
  if (present === undefined) return [];
  return others.filter((peerId) => !present.has(peerId)).map((peerId) => ({ peerId, reason }));
};

/** Answers the callers of a round whose time is up; the round itself goes on. */
const answerLate = (step: Step, round: Round, isDue: (caller: Pick<Caller, "arrivedAt">) => boolean): void => {
  const creator = round.creator !== undefined && isDue(round.creator) ? round.creator : undefined;
  const coalesced = round.coalesced.filter(isDue);
  const late = callersOf({ creator, coalesced });
  if (late.length === 0) return;
  const members = missingIn(step, round);
  const rejected = busy("Not every member has confirmed in time; the outcome is not known yet.", undefined, true);
  for (const caller of late) answerRejected(step, caller, { ...rejected, members });
  keepWaiting(step, round.id, {
    creator: creator === undefined ? round.creator : undefined,
    coalesced: round.coalesced.filter((pending) => !coalesced.includes(pending)),
  });
};
