/** All callers that wait for an answer of this peer, for when it can give none any more. */
import type { Step } from "./Step.ts";
import { answerRejected, callerOfQueued, callersOf, leftOpen } from "./Answers.ts";
import { endRounds } from "./Rounds.ts";
import { unavailable } from "./Unavailable.ts";

/** Answers all pending callers; reservations and applied changes are on disk and are taken up again later. */
export const forgetPendingCallers = (step: Step, reason: string): void => {
  step.draft("probing").verdict = undefined;
  step.draft("probing").probe = undefined;
  const rejected = unavailable([{ peerId: step.state.cluster.peer?.peerId ?? 0, reason }], undefined);
  for (const requestId of step.state.probing.readinessWaiters)
    step.reply(requestId, { _tag: "Readiness", faults: rejected.members });
  step.draft("probing").readinessWaiters = [];
  const {
    requests: { queue, awaited, entering },
    undecided: { rounds },
  } = step.state;
  for (const queued of queue) answerRejected(step, callerOfQueued(queued), rejected);
  for (const round of rounds.values())
    for (const caller of callersOf(round)) {
      const { target } = caller;
      answerRejected(step, caller, target === undefined ? rejected : leftOpen(step.context.commands, rejected, target));
    }
  for (const [requestId, { request }] of awaited)
    step.reply(requestId, { _tag: "Rejected", rejection: leftOpen(step.context.commands, rejected, request) });
  for (const { requestId } of entering) step.reply(requestId, { _tag: "Rejected", rejection: rejected });
  for (const exchange of step.context.commands.exchanges.values()) exchange.forgetAll(step, rejected);
  step.draft("requests").queue = [];
  step.draft("requests").entering = [];
  endRounds(step);
  step.edit("requests", "awaited").clear();
};
