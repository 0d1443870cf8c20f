/** How the writer answers: a caller of its own at once, a forwarded one through its entry peer. */
import { absurd } from "effect";
import type { Answer } from "./Answer.ts";
import type { Caller, Queued } from "./Requests.ts";
import type { Round } from "./Undecided.ts";
import type { Rejection, RejectionCode } from "../base/Rejection.ts";
import type { Turn } from "./Turn.ts";
import { refusalsRemembered } from "./Admission.ts";
import type { Commands, Intent, Retry, Target } from "./Command.ts";
import type { Forward } from "./Forward.ts";
import { isFromBefore, noteForgotten } from "./LateCopy.ts";
import type { Message, Outcome } from "./Message.ts";
import type { Proposal } from "./Proposal.ts";
import { unreadiness } from "./Readiness.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";

export const callerOf = (forward: Forward, arrivedAt: number, asked: Target | undefined): Caller => ({
  entryPeer: forward.entryPeer,
  requestId: forward.requestId,
  arrival: forward.arrival,
  target: asked,
  arrivedAt,
});

export const callerOfQueued = ({ forward, arrivedAt, intent }: Queued): Caller => callerOf(forward, arrivedAt, intent);

/** Everybody who waits for a round's end. */
export const callersOf = ({ creator, joiners }: Pick<Round, "creator" | "joiners">): ReadonlyArray<Caller> => {
  const joined = joiners.map(callerOfQueued);
  return creator === undefined ? joined : [creator, ...joined];
};

const answer = (
  turn: Turn,
  { entryPeer, requestId }: Caller,
  own: Answer,
  forwarded: Outcome,
  flushed = false,
): void => {
  if (entryPeer === turn.self) return flushed ? turn.replyFlushed(requestId, own) : turn.reply(requestId, own);
  const message: Message = { _tag: "Outcome", requestId, outcome: forwarded };
  if (flushed) turn.sendFlushed(message, [entryPeer]);
  else turn.send(entryPeer, message);
};

/**
 * Whether nothing that this peer can read tells what became of a forwarded request: its rows do not hold; or an
 * earlier process had the request, and nobody has shown this one yet that its rows are not of before that.
 */
const isBeyondMemory = (turn: Turn, caller: Caller): boolean =>
  caller.entryPeer !== turn.self &&
  (turn.state.standing.integrityFault !== undefined || (isFromBefore(turn, caller) && unreadiness(turn) !== undefined));

/**
 * Whether something that a rejected request asked for is reserved or applied here all the same: then no answer may
 * say that nothing is.
 */
const mayStand = (turn: Turn, caller: Caller): boolean => {
  const { target, entryPeer } = caller;
  const command = target && turn.context.commands.byKind.get(target.kind);
  if (target === undefined || command === undefined) return false;
  return isBeyondMemory(turn, caller) || command.mayStand(turn, target, entryPeer);
};

const BEGINS_ANEW: Retry = { _tag: "BeginsAnew" };

/**
 * The same rejection where the request may have been done all the same. Repeating it finds out, or meets that it has
 * taken its own base away. The answer names what it is about, as far as that is known. What leaves nothing that anybody
 * could find is as good as not done.
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

/** What a caller asked for with what is known of it by now. */
const named = (turn: Turn, target: Target): Target =>
  turn.context.commands.byKind.get(target.kind)?.named(turn, target) ?? target;

/** How sure it is that a later copy of a request would be refused for the same reason. */
export type Repeats = "by itself" | "only if remembered";

/** Answers that a request was not done; the outcome stays open while an earlier copy of it may be under way. */
export const answerRejected = (
  turn: Turn,
  caller: Caller,
  rejection: Rejection,
  repeats: Repeats = repeatsOf(rejection),
): void => {
  const { target } = caller;
  if (target !== undefined) turn.context.commands.byKind.get(target.kind)?.noteRefused(turn, target, rejection);
  const isOpen = target !== undefined && (rejection.outcomeUnknown || mayStand(turn, caller));
  const told = isOpen ? leftOpen(turn.context.commands, rejection, named(turn, target)) : rejection;
  if (caller.entryPeer !== turn.self && repeats === "only if remembered") rememberTurnedAway(turn, caller, told);
  answer(turn, caller, { _tag: "Rejected", rejection: told }, { _tag: "Rejected", rejection: told });
};

const mayChange: ReadonlySet<RejectionCode> = new Set([
  "APPROVER_REPLICATION_UNAVAILABLE",
  "PREPARATION_CAPACITY",
  "SESSION_CAPACITY",
  "TOO_MANY_ATTEMPTS",
  "REQUEST_CAPACITY",
  // The writer's keys may be renewed, and a token that is not valid yet becomes so.
  "UNAUTHENTICATED",
]);

const repeatsOf = ({ code }: Rejection): Repeats => (mayChange.has(code) ? "only if remembered" : "by itself");

/**
 * A request that was refused for the state of the cluster, or by another member, could succeed a moment
 * later, so a late copy of it must meet the same answer, not a second chance.
 */
const rememberTurnedAway = (turn: Turn, caller: Caller, rejection: Rejection): void => {
  const { entryPeer, requestId, arrival } = caller;
  const remembered = turn.editTurnedAway(entryPeer);
  if (remembered.size >= refusalsRemembered(turn.context.settings) && !remembered.has(requestId))
    for (const [oldest, turnedAway] of remembered) {
      remembered.delete(oldest);
      noteForgotten(turn, { entryPeer, arrival: turnedAway.arrival });
      break;
    }
  remembered.set(requestId, { arrival, rejection });
};

/** Answers whoever asked for what was there before. */
export const answerExisting = (turn: Turn, caller: Caller, intent: Intent, name: string): void => {
  const existing = turn.command(intent).existing(turn.context.view, name);
  if (existing !== undefined) answer(turn, caller, existing.answer, { _tag: "Existing", ref: name });
};

/** What the caller is told whose request has led to this proposal, applied by every member. */
export const confirmation = (turn: Turn, proposal: Proposal, isFresh: boolean): Answer =>
  turn.command(proposal).confirmed(proposal.effects, isFresh);

/** Every member has applied it: the request that made it is told so, and those that joined it that it was there. */
export const answerConfirmed = (turn: Turn, round: Round, acks: ReadonlyArray<SignedStatement>): void => {
  const { certificate, creator, joiners } = round;
  if (certificate === undefined) return;
  // A mono instance signs its acknowledgement in this very turn; then the answer waits for the flush.
  const flushed = acks.every((ack) => signerOf(ack) !== turn.self || turn.isFlushed(ack));
  const confirm = (caller: Caller, created: boolean): void =>
    answer(
      turn,
      caller,
      confirmation(turn, certificate.proposal, created),
      { _tag: "Confirmed", certificate, acks },
      flushed,
    );
  if (creator !== undefined) confirm(creator, true);
  for (const joiner of joiners) confirm(callerOfQueued(joiner), false);
};
