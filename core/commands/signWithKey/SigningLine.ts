/**
 * The line of a coordinator: requests whose signing has not begun. A signature costs every signer processor time, so that
 * a hundred begun at once would all be late, and their nonces made in vain. Therefore a few are under way at a time,
 * callers are served in turn, and whoever would wait too long is told so when it comes.
 */
import { Limits } from "../../base/Limits.ts";
import { actorName, inTurn, makingRoom, noPace, paced, placesAt, type Share } from "../../protocol/Admission.ts";
import type { Answer } from "../../protocol/Answer.ts";
import { entryPatience } from "../../protocol/Patience.ts";
import type { Step } from "../../protocol/Step.ts";
import { crowded } from "../../protocol/Unavailable.ts";
import { end } from "./Attempts.ts";
import { usualWait } from "./SignerChoice.ts";
import { type Coordinated, signings, type Wanted } from "./SigningState.ts";

/**
 * What nothing has been heard of for so long waits for a member, which takes up nobody's time: its place is free. At
 * least, and however slow members are at most.
 */
const STALLED_MILLIS = 250;
const SURELY_STALLED_MILLIS = 1_000;

const turnedAway: Answer = {
  _tag: "Rejected",
  rejection: crowded("This peer has as many signatures under way as it may.", undefined),
};

const shareOf = ({ claims, evidence }: Pick<Wanted, "claims" | "evidence">): Share => ({
  actor: actorName(claims),
  bytes: evidence.rawBody.length,
});

const paceOf = (step: Step) => step.slice(signings).pace.get("line") ?? noPace;

const turnAway = (step: Step, { requestId }: Wanted): void => {
  step.editIn(signings, "waiting").delete(requestId);
  step.reply(requestId, turnedAway);
};

/** Whether something is being done for it, or was a moment ago. */
const isMoving = (step: Step) => {
  const longest = Math.min(SURELY_STALLED_MILLIS, Math.max(STALLED_MILLIS, usualWait(step, step.others)));
  return ({ attempt: { startedAt, packagedAt } }: Coordinated): boolean =>
    step.elapsed - (packagedAt ?? startedAt) < longest;
};

/**
 * Takes a request into the line, or turns the newest of the actor that holds most away, which may be this one. One that
 * waits for a member holds no place against those whose turn comes.
 */
export const enterLine = (step: Step, wanted: Wanted): void => {
  const { waiting, requests } = step.slice(signings);
  const isBusy = isMoving(step);
  const [moving, stalled] = [
    [...requests.values()].filter(isBusy),
    [...requests.values()].filter((each) => !isBusy(each)),
  ];
  const line = [...stalled, ...waiting.values()];
  const places = placesAt(paceOf(step), step.capacities, entryPatience(step));
  const room = { requests: Math.min(Limits.signingRequests, places), bytes: Limits.signingRequestBytes };
  const going = makingRoom(line.map(shareOf), shareOf(wanted), moving.map(shareOf), room);
  for (const index of going ?? []) {
    const late = stalled[index];
    const gone = line[index];
    if (late !== undefined) end(step, late, turnedAway);
    else if (gone !== undefined) turnAway(step, gone);
  }
  step.editIn(signings, "waiting").set(wanted.requestId, wanted);
  if (going === undefined) turnAway(step, wanted);
};

/** Takes those out of the line whose turn it is: the first of every actor before the second of any. */
export const leaveLine = (step: Step): ReadonlyArray<Wanted> => {
  const { waiting, requests } = step.slice(signings);
  if (waiting.size === 0) return [];
  const moving = [...requests.values()].filter(isMoving(step));
  const room = step.capacities.signaturesAtOnce - moving.length;
  if (room <= 0) return [];
  const underWay = new Map<string, number>();
  for (const { claims } of moving) underWay.set(actorName(claims), (underWay.get(actorName(claims)) ?? 0) + 1);
  const next = inTurn([...waiting.values()], ({ claims }) => actorName(claims), underWay).slice(0, room);
  const [since = step.elapsed] = Array.from(waiting.values(), ({ arrivedAt }) => arrivedAt);
  const edited = step.editIn(signings, "waiting");
  for (const { requestId } of next) edited.delete(requestId);
  step
    .editIn(signings, "pace")
    .set("line", paced(paceOf(step), step.elapsed, next.length, since, step.slice(signings).waiting.size > 0));
  return next;
};

/** Tells those that there is too little time left to sign for, while their callers still wait. */
export const turnAwayLate = (step: Step): void => {
  const longest = entryPatience(step) / 2;
  for (const wanted of step.slice(signings).waiting.values())
    if (step.elapsed - wanted.arrivedAt >= longest) turnAway(step, wanted);
};
