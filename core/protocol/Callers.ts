/** Everybody who waits for an answer of this peer, for when it can give none any more. */
import type { Turn } from "./Turn.ts";
import { answerRejected, callerOfQueued, callersOf, leftOpen } from "./Answers.ts";
import { endRounds } from "./Rounds.ts";
import { unavailable } from "./Unavailable.ts";

/** Tells everybody who waits; what was reserved or applied is on disk and is taken up again later. */
export const forgetCallers = (turn: Turn, reason: string): void => {
  turn.draft("probing").verdict = undefined;
  turn.draft("probing").probe = undefined;
  const refusal = unavailable([{ peerId: turn.state.cluster.peer?.peerId ?? 0, reason }], undefined);
  for (const requestId of turn.state.probing.readinessWaiters)
    turn.reply(requestId, { _tag: "Readiness", faults: refusal.members });
  turn.draft("probing").readinessWaiters = [];
  const {
    requests: { queue, awaited, entering },
    undecided: { rounds },
  } = turn.state;
  for (const queued of queue) answerRejected(turn, callerOfQueued(queued), refusal);
  for (const round of rounds.values())
    for (const caller of callersOf(round)) {
      const { target } = caller;
      answerRejected(turn, caller, target === undefined ? refusal : leftOpen(turn.context.commands, refusal, target));
    }
  for (const [requestId, { request }] of awaited)
    turn.reply(requestId, { _tag: "Rejected", rejection: leftOpen(turn.context.commands, refusal, request) });
  for (const { requestId } of entering) turn.reply(requestId, { _tag: "Rejected", rejection: refusal });
  for (const exchange of turn.context.commands.exchanges.values()) exchange.forgetAll(turn, refusal);
  turn.draft("requests").queue = [];
  turn.draft("requests").entering = [];
  endRounds(turn);
  turn.edit("requests", "awaited").clear();
};
