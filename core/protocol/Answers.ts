/** How the writer answers: a caller of its own at once, a forwarded one through its entry peer. */
import type { Answer } from "../Action.ts";
import type { Round } from "../PeerState.ts";
import { approverRow } from "../registry/Registration.ts";
import type { Rejection } from "../Rejection.ts";
import type { Rows } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { type Forward, requestKey } from "./Forward.ts";
import type { Message, Outcome } from "./Message.ts";
import { type SignedStatement, signerOf } from "./Statement.ts";

export interface Caller {
  readonly forward: Forward;
  readonly arrivedAt: number;
}

const answer = (turn: Turn, { forward }: Caller, own: Answer, forwarded: Outcome, flushed = false): void => {
  const { entryPeer, requestId } = forward;
  if (entryPeer === turn.self) return flushed ? turn.replyFlushed(requestId, own) : turn.reply(requestId, own);
  const message: Message = { _tag: "Outcome", requestId, outcome: forwarded };
  if (flushed) turn.sendFlushed(message, [entryPeer]);
  else turn.send(entryPeer, message);
};

/** How many forwarded requests that were turned away are remembered. */
const TURNED_AWAY = 1024;

export const answerRejected = (turn: Turn, caller: Caller, rejection: Rejection): void => {
  if (caller.forward.entryPeer !== turn.self) rememberTurnedAway(turn, requestKey(caller.forward), rejection);
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

export const answerExisting = (turn: Turn, caller: Caller, approver: Rows["approvers"], flushed = false): void =>
  answer(
    turn,
    caller,
    { _tag: "Registered", created: false, approver },
    { _tag: "Existing", ref: approver.ref },
    flushed,
  );

/** Every member has applied it: the request that made it is told 201, those that joined it 200. */
export const answerCreated = (turn: Turn, round: Round, acks: ReadonlyArray<SignedStatement>): void => {
  const { certificate } = round;
  if (certificate === undefined) return;
  const approver = approverRow(certificate.proposal.effects);
  // A mono instance signs its acknowledgement in this very turn; then the answer waits for the flush.
  const flushed = acks.every((ack) => signerOf(ack) !== turn.self || turn.isFlushed(ack));
  round.callers.forEach((caller, index) =>
    index === 0
      ? answer(
          turn,
          caller,
          { _tag: "Registered", created: true, approver },
          { _tag: "Created", certificate, acks },
          flushed,
        )
      : answerExisting(turn, caller, approver, flushed),
  );
};
