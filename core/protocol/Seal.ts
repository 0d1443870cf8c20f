/** Sealing and unsealing as the protocol sees them: with the keys gone a peer neither votes nor acknowledges. */
import type { Turn } from "../Turn.ts";
import { answerRejected, callersOf, leftOpen } from "./Answers.ts";
import { callerOfQueued, unavailable } from "./Coordinator.ts";
import { continueGenesis } from "./Genesis.ts";
import { join, takeUp } from "./Joining.ts";

/** The keys are here: founding, joining and what a restart or a seal interrupted go on. */
export const onUnsealed = (turn: Turn): void => {
  const { peer } = turn.state;
  if (peer === undefined) return;
  turn.state.unsealed = true;
  // The vault held the keys of somebody else, or the row that names them was changed.
  if (turn.context.signer?.publicKey !== peer.identityKey) turn.state.integrityFault ??= "peer/self";
  continueGenesis(turn);
  join(turn);
  takeUp(turn);
};

export const onSealed = (turn: Turn): void => {
  if (turn.state.peer === undefined || !turn.state.unsealed) return;
  turn.state.unsealed = false;
  forgetCallers(turn, "it is sealed");
};

export const onIntegrityLost = (turn: Turn, where: string): void => {
  turn.state.integrityFault ??= where;
  // The event that found it is lost, and with it perhaps a timer.
  turn.edit("timers").clear();
  forgetCallers(turn, "its stored records do not hold");
};

/** Tells everybody who waits; what was reserved or applied is on disk and is taken up again later. */
const forgetCallers = (turn: Turn, reason: string): void => {
  turn.state.verdict = undefined;
  turn.state.probe = undefined;
  const refusal = unavailable([{ peerId: turn.state.peer?.peerId ?? 0, reason }], undefined);
  for (const requestId of turn.state.readinessWaiters)
    turn.reply(requestId, { _tag: "Readiness", faults: refusal.members });
  turn.state.readinessWaiters = [];
  const { queue, rounds, awaited } = turn.state;
  for (const queued of queue) answerRejected(turn, callerOfQueued(queued), refusal);
  for (const round of rounds.values())
    for (const caller of callersOf(round)) answerRejected(turn, caller, leftOpen(refusal, caller));
  for (const [requestId, { mutation }] of awaited)
    turn.reply(requestId, { _tag: "Rejected", rejection: leftOpen(refusal, mutation) });
  turn.state.queue = [];
  turn.edit("rounds").clear();
  turn.edit("awaited").clear();
  turn.edit("collecting").clear();
};
