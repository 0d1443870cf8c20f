/**
 * S54: what waits at a running peer. A caller is told once, and at once what the driver answers to its own request;
 * where that comes to nothing, when its time is up: that nobody knows, or that there was no room where the driver never
 * had it. Requests reach the driver few at once, a caller's in order and callers in turn, none whose caller has been
 * told. Where there is no place left the newest of whoever holds most is turned away. An operator, whose requests wait for
 * nothing, is told no less, and that nobody knows where its time is up.
 */
import type { Answer } from "../../core/Action.ts";
import type { Checker, DeskAct } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { outcomeText } from "../requests/Outcome.ts";
import { Violation } from "../base/Violation.ts";

/** How many of the service's requests a driver has at once. */
const USUALLY_AT_ONCE = 16;
/** How many may wait for that. */
const USUAL_PLACES = 1_024;

interface Waiting {
  readonly caller: string;
  /** The number of its act at this desk. */
  readonly turn: number;
  readonly cameAt: number;
  readonly isOperators: boolean;
  isEntered: boolean;
  answer: Answer | undefined;
  isTold: boolean;
}

/** One process. */
interface Desk {
  readonly requests: Map<string, Waiting>;
  /** Those that have not reached the driver, the oldest first, by caller. */
  readonly outside: Map<string, Array<Waiting>>;
  /** At which act a caller's request was handed in last. */
  readonly served: Map<string, number>;
  acts: number;
  inside: number;
  /** Answered by the driver, and its caller not told yet. */
  pending: string | undefined;
}

const saysNoRoom = (answer: Answer): boolean =>
  answer._tag === "Rejected" && answer.rejection.code === "REQUEST_CAPACITY";

const waitingIn = (outside: Desk["outside"]): number => {
  let sum = 0;
  for (const { length } of outside.values()) sum += length;
  return sum;
};

/** Takes a request out of those that wait. */
const takeOut = ({ outside }: Desk, request: Waiting): void => {
  const left = (outside.get(request.caller) ?? []).filter((each) => each !== request);
  if (left.length > 0) outside.set(request.caller, left);
  else outside.delete(request.caller);
};

export const S54 = (ghost: Ghost): Checker => {
  const { commandsAtOnce = USUALLY_AT_ONCE, queuedCommands: places = USUAL_PLACES } = ghost.capacities;
  /** By slot, of the process that runs. */
  const desks: Array<Desk | undefined> = [];
  const newDesk = (): Desk => ({
    requests: new Map(),
    outside: new Map(),
    served: new Map(),
    acts: 0,
    inside: 0,
    pending: undefined,
  });
  const broken = (slot: number, requestId: string, rule: string, now: string): never => {
    throw new Violation("S54", `request ${requestId} came to peer ${slot}; ${rule}`, now);
  };
  const assertTold = (slot: number, { pending }: Desk): void => {
    if (pending !== undefined)
      broken(
        slot,
        pending,
        "its caller is told at once what the driver answers",
        "the driver answered, and it is not told",
      );
  };
  const assertFair = (slot: number, { outside }: Desk, requestId: string, { caller }: Waiting): void => {
    const rule = "the newest of whoever holds most places is turned away, where there is none left";
    const held = outside.get(caller) ?? [];
    if (waitingIn(outside) <= places) broken(slot, requestId, rule, "it is turned away, and there is a place");
    for (const [other, { length }] of outside)
      if (length > held.length)
        broken(slot, requestId, rule, `${caller} holds ${held.length} and is turned away; ${other} holds ${length}`);
    if (held.at(-1)?.isTold === false) broken(slot, requestId, rule, "it is turned away, and a newer one waits");
  };
  const entered = (slot: number, desk: Desk, requestId: string, request: Waiting): void => {
    if (request.isTold) broken(slot, requestId, "its caller was told that it is not carried out", "the driver gets it");
    if (desk.outside.get(request.caller)?.[0] !== request)
      broken(slot, requestId, "a caller's requests are handed in as they come", "an earlier one of its caller waits");
    const before = desk.served.get(request.caller) ?? -1;
    for (const [caller, [oldest]] of desk.outside)
      if (oldest !== undefined && oldest.turn < before && (desk.served.get(caller) ?? -1) < before)
        broken(
          slot,
          requestId,
          "callers are served in turn",
          `${caller} has waited since before its caller's last turn`,
        );
    takeOut(desk, request);
    desk.served.set(request.caller, desk.acts);
    request.isEntered = true;
    desk.inside += 1;
    if (desk.inside > commandsAtOnce)
      broken(slot, requestId, `the driver has ${commandsAtOnce} at once`, `it is given one more than that`);
  };
  const told = (slot: number, desk: Desk, { requestId, at, promised }: DeskAct, answer: Answer): void => {
    const request = desk.requests.get(requestId);
    if (request === undefined) return;
    const { isTold, isEntered, isOperators, cameAt } = request;
    const now = `its caller is told: ${outcomeText(answer)}`;
    if (isTold) broken(slot, requestId, "a caller is told once", now);
    request.isTold = true;
    if (!isEntered && at - cameAt < promised) assertFair(slot, desk, requestId, request);
    if (!isEntered) takeOut(desk, request);
    if (request.answer !== undefined) {
      if (request.answer !== answer)
        broken(slot, requestId, `the driver answered: ${outcomeText(request.answer)}`, now);
      desk.pending = undefined;
      return;
    }
    if (saysNoRoom(answer) === isEntered)
      broken(slot, requestId, `the driver ${isEntered ? "had" : "never had"} it`, now);
    if (isEntered && at - cameAt < promised) broken(slot, requestId, "its time was not up", now);
    if (isOperators && (answer._tag !== "Rejected" || !answer.rejection.outcomeUnknown))
      broken(slot, requestId, "what an operator wanted may be done, or may yet be", now);
  };
  return {
    id: "S54",
    stopped: ({ slot }) => void (desks[slot] = undefined),
    atDesk: ({ slot }, act) => {
      const { what, requestId, answer, at } = act;
      const desk = (desks[slot] ??= newDesk());
      desk.acts += 1;
      if (what !== "told") assertTold(slot, desk);
      if (what === "came" || what === "asked") {
        const { caller } = act;
        const isOperators = what === "asked";
        const came = { caller, turn: desk.acts, cameAt: at, answer: undefined, isTold: false };
        const request: Waiting = { ...came, isOperators, isEntered: isOperators };
        desk.requests.set(requestId, request);
        if (!isOperators) desk.outside.set(caller, [...(desk.outside.get(caller) ?? []), request]);
        return;
      }
      const request = desk.requests.get(requestId);
      if (what === "left") desk.inside -= 1;
      else if (what === "entered") {
        if (request !== undefined) entered(slot, desk, requestId, request);
      } else if (answer !== undefined && what === "told") told(slot, desk, act, answer);
      else if (request !== undefined && !request.isTold && request.answer === undefined) {
        request.answer = answer;
        desk.pending = requestId;
      }
    },
    swept: () => {
      for (const [slot, desk] of desks.entries()) {
        if (desk === undefined) continue;
        assertTold(slot, desk);
        if (waitingIn(desk.outside) > places)
          throw new Violation("S54", `${places} requests may wait at peer ${slot}`, `${waitingIn(desk.outside)} do`);
      }
    },
  };
};
