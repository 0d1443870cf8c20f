/**
 * How fast this peer helps to abort proposals. Outcomes are kept for ever, and a writer can propose without end what
 * nobody has asked for: without a pace it would soon fill the disks of all others. There is room for far more aborts at
 * once than honest members come to; then a second brings back the place of one, and so does a change that is applied
 * (protocol.md 3.5). A member without room votes on nothing new, and is asked again. The writer sees to it that no
 * actor alone takes all of it.
 */
import { type Allowance, isUsedUp, used, useOf } from "../base/Allowance.ts";
import { Limits } from "../base/Limits.ts";
import { actorName } from "./Admission.ts";
import type { Actor, Proposal } from "./Proposal.ts";
import type { Step } from "./Step.ts";

const ofPeer = ({ capacities }: Step): Allowance => ({ atOnce: capacities.aborts, millis: Limits.abortMillis });

const ofActor = ({ capacities }: Step): Allowance => ({ atOnce: capacities.abortsOfActor, millis: Limits.abortMillis });

/** Whether this peer may refuse so many more proposals. */
export const hasRoomToAbort = (step: Step, more = 1): boolean =>
  !isUsedUp(step.state.undecided.abortsUntil, step.elapsed, ofPeer(step), more);

/**
 * Whether there is room for one more beside all that are prepared and may have to be aborted.
 *
 * @param chosen those that this step has chosen and not recorded yet
 */
export const hasRoomToPrepare = (step: Step, chosen: number): boolean => {
  let open = 0;
  for (const { pledge } of step.state.undecided.preparations.values()) if (pledge === undefined) open += 1;
  return hasRoomToAbort(step, open + chosen + 1);
};

/**
 * At the writer: whether an actor has room for one more beside its changes that are under way, and otherwise whether it
 * will have once these are applied.
 */
export const roomOfActor = (step: Step, actor: Actor, chosen: number): "yes" | "later" | "no" => {
  const { abortsOfActors, preparations } = step.state.undecided;
  const until = abortsOfActors.get(actorName(actor));
  // All that may be under way has room where nothing was aborted.
  if (until === undefined) return "yes";
  if (isUsedUp(until, step.elapsed, ofActor(step))) return "no";
  let open = 0;
  for (const { proposal } of preparations.values()) if (isSameName(proposal.actor, actor)) open += 1;
  return isUsedUp(until, step.elapsed, ofActor(step), open + chosen + 1) ? "later" : "yes";
};

const isSameName = (one: Actor, other: Actor): boolean => one.sub === other.sub && one.iss === other.iss;

/** This peer has refused a proposal, or has pledged on one. */
export const noteRefusal = (step: Step): void => {
  step.draft("undecided").abortsUntil = used(step.state.undecided.abortsUntil, step.elapsed, ofPeer(step));
};

/** A change was applied: who writes that much may abort that much. */
export const noteChange = (step: Step, { actor }: Proposal): void => {
  const { abortsUntil, abortsOfActors } = step.state.undecided;
  if (abortsUntil > step.elapsed) step.draft("undecided").abortsUntil = abortsUntil - Limits.abortMillis;
  const name = actorName(actor);
  const until = abortsOfActors.get(name);
  if (until === undefined) return;
  const names = step.edit("undecided", "abortsOfActors");
  if (until - Limits.abortMillis > step.elapsed) names.set(name, until - Limits.abortMillis);
  else names.delete(name);
};

/** At the writer: a change that somebody has asked for is aborted. */
export const noteAbortOf = (step: Step, { actor }: Proposal): void =>
  useOf(
    step.edit("undecided", "abortsOfActors"),
    actorName(actor),
    step.elapsed,
    ofActor(step),
    step.capacities.refusedFinishNames,
  );
