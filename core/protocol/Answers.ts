/** How the writer answers: its own caller at once, a forwarded request through its entry peer. */
import { absurd } from "effect";
import type { Answer } from "./Answer.ts";
import type { Caller, Queued } from "./Requests.ts";
import type { Round } from "./Undecided.ts";
import type { Rejection, RejectionCode } from "../base/Rejection.ts";
import type { Step } from "./Step.ts";
import { refusalsRemembered } from "./Admission.ts";
import type { Commands, Intent, Retry, Target } from "./Command.ts";
import type { Forward } from "./Forward.ts";
import { isFromBefore, noteForgotten } from "./DuplicateSuppression.ts";
import type { Message, Outcome } from "./Message.ts";
import type { Proposal } from "./Proposal.ts";
import { notReadyReason } from "./Readiness.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";

export const callerOf = (forward: Forward, arrivedAt: number, asked: Target | undefined): Caller => ({
  entryPeer: forward.entryPeer,
  requestId: forward.requestId,
  arrival: forward.arrival,
  target: asked,
  arrivedAt,
});

export const callerOfQueued = ({ forward, arrivedAt, intent }: Queued): Caller => callerOf(forward, arrivedAt, intent);

/** Everybody who waits for the end of a round. */
export const callersOf = ({ creator, coalesced }: Pick<Round, "creator" | "coalesced">): ReadonlyArray<Caller> => {
  const joined = coalesced.map(callerOfQueued);
  return creator === undefined ? joined : [creator, ...joined];
};

const answer = (
  step: Step,
  { entryPeer, requestId }: Caller,
  own: Answer,
  forwarded: Outcome,
  flushed = false,
): void => {
  if (entryPeer === step.self) return flushed ? step.replyFlushed(requestId, own) : step.reply(requestId, own);
  const message: Message = { _tag: "Outcome", requestId, outcome: forwarded };
  if (flushed) step.sendFlushed(message, [entryPeer]);
  else step.send(entryPeer, message);
};

/**
 * Whether no row that this peer can trust tells what became of a forwarded request: its rows do not hold; or the
 * request came to an earlier process, and the others have not shown this one yet that its rows are not older than that.
 */
const isBeyondMemory = (step: Step, caller: Caller): boolean =>
  caller.entryPeer !== step.self &&
  (step.state.fitness.integrityFault !== undefined ||
    (isFromBefore(step, caller) && notReadyReason(step) !== undefined));

/**
 * Whether part of what a rejected request asked for is reserved or applied here all the same: then no answer may say
 * that nothing was done.
 */
const mayStand = (step: Step, caller: Caller): boolean => {
  const { target, entryPeer } = caller;
  const command = target && step.context.commands.byKind.get(target.kind);
  if (target === undefined || command === undefined) return false;
  return isBeyondMemory(step, caller) || command.mayStand(step, target, entryPeer);
};

const BEGINS_ANEW: Retry = { _tag: "BeginsAnew" };

/**
 * The same rejection where the change may have happened all the same. Repeating the request finds out, or fails because
 * its own base is gone. The answer names its subject, as far as known. A change that leaves nothing that anybody could
 * find is as good as not done.
 */
export const leftOpen = ({ byKind }: Commands, rejection: Rejection, target: Target): Rejection => {
  const retry = byKind.get(target.kind)?.retry ?? BEGINS_ANEW;
  const open = { ...rejection, ref: rejection.ref ?? target.ref, outcomeUnknown: true };
  switch (retry._tag) {
    case "BeginsAnew":
      return rejection;
    case "FindsItsResult":
      return open;
    case "FindsItsBaseGone":
      return { ...open, hint: retry.hint };
    default:
      return absurd(retry);
  }
};

/** A caller's request, with what is known of its subject by now. */
const named = (step: Step, target: Target): Target =>
  step.context.commands.byKind.get(target.kind)?.named(step, target) ?? target;

/** How sure it is that a later copy of a request would be refused for the same reason. */
export type Repeats = "by itself" | "only if remembered";

/** Answers that a request was not done; the outcome stays open while an earlier copy of it may be under way. */
export const answerRejected = (
  step: Step,
  caller: Caller,
  rejection: Rejection,
  repeats: Repeats = repeatsOf(rejection),
): void => {
  const { target } = caller;
  if (target !== undefined) step.context.commands.byKind.get(target.kind)?.noteRefused(step, target, rejection);
  const isOpen = target !== undefined && (rejection.outcomeUnknown || mayStand(step, caller));
  const told = isOpen ? leftOpen(step.context.commands, rejection, named(step, target)) : rejection;
  if (caller.entryPeer !== step.self && repeats === "only if remembered") rememberTurnedAway(step, caller, told);
  answer(step, caller, { _tag: "Rejected", rejection: told }, { _tag: "Rejected", rejection: told });
};

const mayChange: ReadonlySet<RejectionCode> = new Set([
  "APPROVER_REPLICATION_UNAVAILABLE",
  "PREPARATION_CAPACITY",
  "SESSION_CAPACITY",
  "TOO_MANY_ATTEMPTS",
  "REQUEST_CAPACITY",
  // The token keys at the writer may be renewed, and a token that is not valid yet becomes valid.
  "UNAUTHENTICATED",
]);

const repeatsOf = ({ code }: Rejection): Repeats => (mayChange.has(code) ? "only if remembered" : "by itself");

/**
 * A request refused for the state of the cluster, or by another member, could succeed a moment later. So a duplicate of
 * it must get the same answer, not a second chance.
 */
const rememberTurnedAway = (step: Step, caller: Caller, rejection: Rejection): void => {
  const { entryPeer, requestId, arrival } = caller;
  const remembered = step.editTurnedAway(entryPeer);
  if (remembered.size >= refusalsRemembered(step.capacities) && !remembered.has(requestId))
    for (const [oldest, turnedAway] of remembered) {
      remembered.delete(oldest);
      noteForgotten(step, { entryPeer, arrival: turnedAway.arrival });
      break;
    }
  remembered.set(requestId, { arrival, rejection });
};

/** Answers callers that asked for what was there before. */
export const answerExisting = (step: Step, caller: Caller, intent: Intent, name: string): void => {
  const existing = step.command(intent).existing(step.context.view, name, false);
  if (existing !== undefined) answer(step, caller, existing.answer, { _tag: "Existing", ref: name });
};

/** The answer to the caller whose request led to this proposal, once every member has applied it. */
export const confirmation = (step: Step, proposal: Proposal, isFresh: boolean): Answer =>
  step.command(proposal).confirmed(proposal.effects, isFresh);

/** Every member has applied it: its own request is answered as fresh, coalesced ones as already there. */
export const answerConfirmed = (step: Step, round: Round, acks: ReadonlyArray<SignedStatement>): void => {
  const { certificate, creator, coalesced } = round;
  if (certificate === undefined) return;
  // A mono instance signs its acknowledgement in this very step; then the answer waits for the flush.
  const flushed = acks.every((ack) => signerOf(ack) !== step.self || step.isFlushed(ack));
  const confirm = (caller: Caller, created: boolean): void =>
    answer(
      step,
      caller,
      confirmation(step, certificate.proposal, created),
      { _tag: "Confirmed", certificate, acks },
      flushed,
    );
  if (creator !== undefined) confirm(creator, true);
  for (const pending of coalesced) confirm(callerOfQueued(pending), false);
};
