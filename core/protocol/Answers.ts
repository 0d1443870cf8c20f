/** How the writer answers: a caller of its own at once, a forwarded one through its entry peer. */
import type { Answer } from "../Action.ts";
import type { Caller, Round } from "../PeerState.ts";
import { approverRow } from "../registry/Registration.ts";
import type { Rejection } from "../Rejection.ts";
import type { Rows } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { type Forward, requestKey } from "./Forward.ts";
import type { Message, Outcome } from "./Message.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";

/** How many forwarded requests that were turned away are remembered. */
const TURNED_AWAY = 1024;

export const callerOf = (forward: Forward, arrivedAt: number, ref: string | undefined): Caller => ({
  entryPeer: forward.entryPeer,
  requestId: forward.requestId,
  ref,
  arrivedAt,
});

/** Everybody who waits for a round's end. */
export const callersOf = ({ creator, joiners }: Round): ReadonlyArray<Caller> =>
  creator === undefined ? joiners : [creator, ...joiners];

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
 * Whether something about the approver is reserved or applied here: then no answer may say that nothing is. What is
 * applied counts for a forwarded request only: it may be a copy whose first answer was lost.
 */
const mayStand = ({ self, state, context }: Turn, { entryPeer, ref }: Caller): boolean => {
  if (ref === undefined) return false;
  const holder = state.locks.get(`ref:${ref}`);
  if (holder !== undefined) return !state.aborting.has(holder);
  return entryPeer !== self && context.view.get("approvers", ref) !== undefined;
};

/** How sure it is that a later copy of a request would be refused for the same reason. */
type Repeats = "by itself" | "only if remembered";

/** Answers that a request was not done; the outcome stays open while an earlier copy of it may be under way. */
export const answerRejected = (
  turn: Turn,
  caller: Caller,
  rejection: Rejection,
  repeats: Repeats = repeatsOf(rejection),
): void => {
  const told = mayStand(turn, caller) ? { ...rejection, outcomeUnknown: true } : rejection;
  if (caller.entryPeer !== turn.self && repeats === "only if remembered")
    rememberTurnedAway(turn, requestKey(caller), told);
  answer(turn, caller, { _tag: "Rejected", rejection: told }, { _tag: "Rejected", rejection: told });
};

const repeatsOf = ({ code }: Rejection): Repeats =>
  code === "APPROVER_REPLICATION_UNAVAILABLE" || code === "PREPARATION_CAPACITY" ? "only if remembered" : "by itself";

/**
 * A request that was refused for the state of the cluster, or by another member, could succeed a moment
 * later, so a late copy of it must meet the same answer, not a second chance.
 */
const rememberTurnedAway = (turn: Turn, key: string, rejection: Rejection): void => {
  const remembered = turn.edit("turnedAway");
  if (remembered.size >= TURNED_AWAY)
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  remembered.set(key, rejection);
};

export const answerExisting = (turn: Turn, caller: Caller, approver: Rows["approvers"]): void =>
  answer(turn, caller, { _tag: "Registered", created: false, approver }, { _tag: "Existing", ref: approver.ref });

/** Every member has applied it: the request that made it is told 201, those that joined it 200. */
export const answerConfirmed = (turn: Turn, round: Round, acks: ReadonlyArray<SignedStatement>): void => {
  const { certificate, creator, joiners } = round;
  if (certificate === undefined) return;
  const approver = approverRow(certificate.proposal.effects);
  // A mono instance signs its acknowledgement in this very turn; then the answer waits for the flush.
  const flushed = acks.every((ack) => signerOf(ack) !== turn.self || turn.isFlushed(ack));
  const confirm = (caller: Caller, created: boolean): void =>
    answer(
      turn,
      caller,
      { _tag: "Registered", created, approver },
      { _tag: "Confirmed", created, certificate, acks },
      flushed,
    );
  if (creator !== undefined) confirm(creator, true);
  for (const joiner of joiners) confirm(joiner, false);
};
