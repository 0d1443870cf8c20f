/**
 * How often a finish may be refused. The holder of an invitation may send responses that take a peer milliseconds to
 * refuse, and the invitation stays good (contract 3.1). So each session and each actor has an allowance that comes back
 * with time; once it is used up, a finish is refused before anything is read. Each peer counts for itself, in memory.
 */
import { clockInDoubt } from "../../auth/Authorization.ts";
import { Either } from "effect";
import type { ActorClaims } from "../../auth/ActorClaims.ts";
import { type Allowance, isUsedUp, useOf } from "../../base/Allowance.ts";
import { Limits } from "../../base/Limits.ts";
import type { Call } from "../../protocol/Forward.ts";
import { type Rejection, type RejectionCode, rejection } from "../../base/Rejection.ts";
import type { Step } from "../../protocol/Step.ts";
import { enrollments } from "./EnrollmentState.ts";
import type { Response } from "./Completion.ts";
import { type Finish, finishOf, responseIn } from "./Finish.ts";
import { sessionStanding } from "./SessionStanding.ts";

const ofSession = ({ capacities }: Step): Allowance => ({
  atOnce: capacities.refusedFinishes,
  millis: Limits.refusedFinishMillis,
});

const ofActor = ({ capacities }: Step): Allowance => ({
  atOnce: capacities.refusedFinishesOfActor,
  millis: Limits.refusedFinishOfActorMillis,
});

/** Sessions, by their registration ids, and actors share one map, as no name is both. */
const actorName = ({ iss, sub }: Pick<ActorClaims, "iss" | "sub">): string => JSON.stringify([iss ?? null, sub]);

const tooMany = (of: string): Rejection =>
  rejection(
    "TOO_MANY_ATTEMPTS",
    `Too many responses ${of} were refused.`,
    "Repeat the request after the time in Retry-After; the invitation was not used up.",
  );

const hasUsedUp = (step: Step, name: string, allowance: Allowance): boolean =>
  isUsedUp(step.slice(enrollments).refusedFinishes.get(name), step.elapsed, allowance);

/** Takes one of a name's allowance. */
const use = (step: Step, name: string, allowance: Allowance): void =>
  useOf(step.editIn(enrollments, "refusedFinishes"), name, step.elapsed, allowance, step.capacities.refusedFinishNames);

/** A session that is open here, by its name; responses to other sessions are not verified. */
const openSession = (step: Step, response: Response): string | undefined =>
  sessionStanding(step, response)._tag === "Open" ? response.registrationId : undefined;

/** Faults that are found only after a response was verified, and that allow it to be sent again. */
const conflicts: ReadonlySet<RejectionCode> = new Set(["CREDENTIAL_ALREADY_REGISTERED", "KEY_ALREADY_REGISTERED"]);

/** Notes that a response which this peer had verified was refused because of what is registered. */
export const noteConflict = (step: Step, response: Response, { code }: Rejection): void => {
  const session = conflicts.has(code) ? openSession(step, response) : undefined;
  if (session !== undefined) use(step, session, ofSession(step));
};

/**
 * Reads and verifies a finish.
 *
 * @returns the result of {@link finishOf}; before that `TOO_MANY_ATTEMPTS` where the actor, whose body is not read
 *   then, or the session has used up its allowance
 */
export const judgeFinish = (step: Step, call: Call, claims: ActorClaims): Either.Either<Finish, Rejection> => {
  const actor = actorName(claims);
  if (hasUsedUp(step, actor, ofActor(step))) return Either.left(tooMany("under this subject of tokens"));
  const response = responseIn(step.context.crypto, call);
  const session = response && openSession(step, response);
  if (session !== undefined && hasUsedUp(step, session, ofSession(step)))
    return Either.left(tooMany("to this invitation"));
  const judged = finishOf(step, call);
  if (Either.isLeft(judged) && judged.left !== clockInDoubt) {
    use(step, actor, ofActor(step));
    if (session !== undefined) use(step, session, ofSession(step));
  }
  return judged;
};
