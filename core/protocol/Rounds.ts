/** What the writer remembers of the proposals it made in this process, and who waits for them; only this file changes it. */
import type { Digest } from "../base/Digest.ts";
import type { Certificate } from "./Certificate.ts";
import type { Forward } from "./Forward.ts";
import type { Caller, Queued } from "./Requests.ts";
import type { SignedStatement } from "./Statement.ts";
import type { Turn } from "./Turn.ts";
import { certified, type Round } from "./Undecided.ts";

const stopCollecting = (turn: Turn, id: Digest): void => {
  if (turn.state.undecided.collecting.has(id)) turn.edit("undecided", "collecting").delete(id);
};

const change = (turn: Turn, id: Digest, next: (round: Round) => Round): void => {
  const round = turn.state.undecided.rounds.get(id);
  if (round !== undefined) turn.edit("undecided", "rounds").set(id, next(round));
};

/** A request's own proposal, of which the receipts are collected. */
export const beginRound = (turn: Turn, id: Digest, evidence: Forward, creator: Caller): void => {
  const round = { id, evidence, refusal: undefined, certificate: undefined, creator, joiners: [] };
  turn.edit("undecided", "rounds").set(id, round);
  turn.edit("undecided", "collecting").add(id);
};

/** Another request whose outcome is that of this proposal. */
export const addJoiner = (turn: Turn, id: Digest, queued: Queued): void =>
  change(turn, id, (round) => ({ ...round, joiners: [...round.joiners, queued] }));

/** The first refusal ends the collecting; its callers are told when the proposal has come to its end. */
export const opposeRound = (turn: Turn, id: Digest, refusal: SignedStatement): void => {
  stopCollecting(turn, id);
  change(turn, id, (round) => ({ ...round, evidence: undefined, refusal }));
};

export const certifyRound = (turn: Turn, id: Digest, certificate: Certificate): void => {
  stopCollecting(turn, id);
  change(turn, id, (round) => certified(round, certificate));
};

/** A proposal that is short of a receipt for long no longer holds up the next batch. */
export const passRound = (turn: Turn, id: Digest): void => stopCollecting(turn, id);

/** Nobody signs a receipt after the deadline, so the evidence has done its work; the token leaves memory. */
export const expireRound = (turn: Turn, id: Digest): void =>
  change(turn, id, (round) => ({ ...round, evidence: undefined }));

/** Those of its callers that go on waiting. */
export const keepWaiting = (turn: Turn, id: Digest, waiting: Pick<Round, "creator" | "joiners">): void =>
  change(turn, id, (round) => ({ ...round, ...waiting }));

/** Takes a round away whose callers are about to be answered. */
export const endRound = (turn: Turn, id: Digest): Round | undefined => {
  const round = turn.state.undecided.rounds.get(id);
  if (round !== undefined) turn.edit("undecided", "rounds").delete(id);
  return round;
};

/** Takes all rounds away, whose callers have all been answered. */
export const endRounds = (turn: Turn): void => {
  turn.edit("undecided", "rounds").clear();
  turn.edit("undecided", "collecting").clear();
};
