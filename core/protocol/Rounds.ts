/** What the writer remembers of the proposals it made in this process, and who waits for them; only this file changes it. */
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

/** A request's own proposal, of which the receipts are collected. */
export const beginRound = (step: Step, id: Digest, evidence: Forward, creator: Caller): void => {
  const round = { id, evidence, refusal: undefined, certificate: undefined, creator, coalesced: [] };
  step.edit("undecided", "rounds").set(id, round);
  step.edit("undecided", "collecting").add(id);
};

/** Another request whose outcome is that of this proposal. */
export const coalesce = (step: Step, id: Digest, queued: Queued): void =>
  change(step, id, (round) => ({ ...round, coalesced: [...round.coalesced, queued] }));

/** The first refusal ends the collecting; its callers are told when the proposal has come to its end. */
export const opposeRound = (step: Step, id: Digest, refusal: SignedStatement): void => {
  stopCollecting(step, id);
  change(step, id, (round) => ({ ...round, evidence: undefined, refusal }));
};

export const certifyRound = (step: Step, id: Digest, certificate: Certificate): void => {
  stopCollecting(step, id);
  change(step, id, (round) => certified(round, certificate));
};

/** A proposal that is short of a receipt for long no longer holds up the next batch. */
export const passRound = (step: Step, id: Digest): void => stopCollecting(step, id);

/** Nobody signs a receipt after the deadline, so the evidence has done its work; the token leaves memory. */
export const expireRound = (step: Step, id: Digest): void =>
  change(step, id, (round) => ({ ...round, evidence: undefined }));

/** Those of its callers that go on waiting. */
export const keepWaiting = (step: Step, id: Digest, waiting: Pick<Round, "creator" | "coalesced">): void =>
  change(step, id, (round) => ({ ...round, ...waiting }));

/** Takes a round away whose callers are about to be answered. */
export const endRound = (step: Step, id: Digest): Round | undefined => {
  const round = step.state.undecided.rounds.get(id);
  if (round !== undefined) step.edit("undecided", "rounds").delete(id);
  return round;
};

/** Takes all rounds away, whose callers have all been answered. */
export const endRounds = (step: Step): void => {
  step.edit("undecided", "rounds").clear();
  step.edit("undecided", "collecting").clear();
};
