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

export const callerOf = (forward: Forward, arrivedAt: number): Caller => ({
  entryPeer: forward.entryPeer,
  requestId: forward.requestId,
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

export const answerRejected = (turn: Turn, caller: Caller, rejection: Rejection): void => {
  if (caller.entryPeer !== turn.self) rememberTurnedAway(turn, requestKey(caller), rejection);
  answer(turn, caller, { _tag: "Rejected", rejection }, { _tag: "Rejected", rejection });
};

/**
 * A request that was refused for the state of the cluster could succeed a moment
 * later, so a late copy of it must meet the same answer, not a second chance.
 */
const rememberTurnedAway = (turn: Turn, key: string, rejection: Rejection): void => {
  if (rejection.code !== "APPROVER_REPLICATION_UNAVAILABLE" && rejection.code !== "PREPARATION_CAPACITY") return;
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
