/** The writer's proposals of this process with their pending callers, in memory; only this file changes them. */
import type { Digest } from "../base/Digest.ts";
import type { Certificate } from "./Certificate.ts";
import type { Forward } from "./Forward.ts";
import type { Caller, Queued } from "./Requests.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Step } from "./Step.ts";
import { certified, type Round } from "./Undecided.ts";

const stopCollecting = (step: Step, id: Digest): void => {
  if (step.state.undecided.collecting.has(id)) step.edit("undecided", "collecting").delete(id);
};

const change = (step: Step, id: Digest, next: (round: Round) => Round): void => {
  const round = step.state.undecided.rounds.get(id);
  if (round !== undefined) step.edit("undecided", "rounds").set(id, next(round));
};

/** A request's own proposal, for which receipts are collected. */
export const beginRound = (step: Step, id: Digest, evidence: Forward, creator: Caller): void => {
  const round = { id, evidence, refusal: undefined, certificate: undefined, creator, coalesced: [] };
  step.edit("undecided", "rounds").set(id, round);
  step.edit("undecided", "collecting").add(id);
};

/** Another request whose outcome is that of this proposal. */
export const coalesce = (step: Step, id: Digest, queued: Queued): void =>
  change(step, id, (round) => ({ ...round, coalesced: [...round.coalesced, queued] }));

/** The first refusal ends the collecting; its callers are told when the proposal has ended. */
export const opposeRound = (step: Step, id: Digest, refusal: SignedStatement): void => {
  stopCollecting(step, id);
  change(step, id, (round) => ({ ...round, evidence: undefined, refusal }));
};

export const certifyRound = (step: Step, id: Digest, certificate: Certificate): void => {
  stopCollecting(step, id);
  change(step, id, (round) => certified(round, certificate));
};

/** A proposal that lacks a receipt for long no longer holds up the next `Prepare`. */
export const passRound = (step: Step, id: Digest): void => stopCollecting(step, id);

/** Nobody signs a receipt after the deadline, so the evidence is no longer needed; the token leaves memory. */
export const expireRound = (step: Step, id: Digest): void =>
  change(step, id, (round) => ({ ...round, evidence: undefined }));

/** The callers that keep waiting. */
export const keepWaiting = (step: Step, id: Digest, waiting: Pick<Round, "creator" | "coalesced">): void =>
  change(step, id, (round) => ({ ...round, ...waiting }));

/** Removes a round whose callers are about to be answered. */
export const endRound = (step: Step, id: Digest): Round | undefined => {
  const round = step.state.undecided.rounds.get(id);
  if (round !== undefined) step.edit("undecided", "rounds").delete(id);
  return round;
};

/** Removes all rounds; all their callers have been answered. */
export const endRounds = (step: Step): void => {
  step.edit("undecided", "rounds").clear();
  step.edit("undecided", "collecting").clear();
};
