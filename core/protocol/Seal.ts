/** Sealing and unsealing as the protocol sees them: with the keys gone a peer neither votes nor acknowledges. */
import type { Turn } from "../Turn.ts";
import { answerRejected } from "./Answers.ts";
import { unavailable } from "./Coordinator.ts";
import { continueGenesis } from "./Genesis.ts";

/** Takes up what a restart or a seal interrupted. */
export const onUnsealed = (turn: Turn): void => {
  if (turn.state.peer === undefined) return;
  turn.state.unsealed = true;
  continueGenesis(turn);
  if (turn.state.preparations.size > 0) turn.arm("resolve", 1);
  if (turn.state.outbox.size > 0) turn.arm("deliver", 1);
};

/** Forgets the callers; what was reserved or applied is on disk and waits for the next unseal. */
export const onSealed = (turn: Turn): void => {
  if (turn.state.peer === undefined || !turn.state.unsealed) return;
  turn.state.unsealed = false;
  turn.state.verdict = undefined;
  turn.state.probe = undefined;
  const sealed = unavailable([{ peerId: turn.self, reason: "it is sealed" }], undefined);
  for (const requestId of turn.state.readinessWaiters)
    turn.reply(requestId, { _tag: "Readiness", faults: sealed.members });
  turn.state.readinessWaiters = [];
  const { queue, rounds, awaited } = turn.state;
  for (const queued of queue) answerRejected(turn, queued, sealed);
  for (const round of rounds.values())
    for (const caller of round.callers) answerRejected(turn, caller, { ...sealed, outcomeUnknown: true });
  for (const requestId of awaited.keys())
    turn.reply(requestId, { _tag: "Rejected", rejection: { ...sealed, outcomeUnknown: true } });
  turn.state.queue = [];
  turn.edit("rounds").clear();
  turn.edit("awaited").clear();
  turn.edit("collecting").clear();
};
