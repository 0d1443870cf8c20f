/**
 * S54: what waits at a running peer. A caller is told once, and at once what the driver answers to its own request;
 * where that comes to nothing, when its time is up: that nobody knows, or that there was no room where the driver never
 * had it. Requests reach the driver in order, few at once, none whose caller has been told.
 */
import type { Answer } from "../../core/Action.ts";
import type { Checker, DeskAct } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { outcomeText } from "../requests/Outcome.ts";
import { Violation } from "../base/Violation.ts";

/** How many of the service's requests a driver has at once. */
const USUALLY_AT_ONCE = 16;

interface Waiting {
  readonly cameAt: number;
  isEntered: boolean;
  answer: Answer | undefined;
  isTold: boolean;
}

/** One process. */
interface Desk {
  readonly requests: Map<string, Waiting>;
  /** Those that have not reached the driver, the oldest first. */
  readonly outside: Array<string>;
  inside: number;
  /** Answered by the driver, and its caller not told yet. */
  pending: string | undefined;
}

const saysNoRoom = (answer: Answer): boolean =>
  answer._tag === "Rejected" && answer.rejection.code === "REQUEST_CAPACITY";

export const S54 = (ghost: Ghost): Checker => {
  const { commandsAtOnce = USUALLY_AT_ONCE } = ghost.capacities;
  /** By slot, of the process that runs. */
  const desks: Array<Desk | undefined> = [];
  const newDesk = (): Desk => ({ requests: new Map(), outside: [], inside: 0, pending: undefined });
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
  const entered = (slot: number, desk: Desk, requestId: string, request: Waiting): void => {
    if (request.isTold) broken(slot, requestId, "its caller was told that it is not carried out", "the driver gets it");
    const first = desk.outside.shift();
    if (first !== requestId)
      broken(slot, requestId, "requests are handed in as they come", `request ${first} came before`);
    request.isEntered = true;
    desk.inside += 1;
    if (desk.inside > commandsAtOnce)
      broken(slot, requestId, `the driver has ${commandsAtOnce} at once`, `it is given one more than that`);
  };
  const told = (slot: number, desk: Desk, { requestId, at, promised }: DeskAct, answer: Answer): void => {
    const request = desk.requests.get(requestId);
    if (request === undefined) return;
    const { isTold, isEntered, cameAt } = request;
    const now = `its caller is told: ${outcomeText(answer)}`;
    if (isTold) broken(slot, requestId, "a caller is told once", now);
    request.isTold = true;
    if (!isEntered) desk.outside.splice(desk.outside.indexOf(requestId), 1);
    if (request.answer !== undefined) {
      if (request.answer !== answer)
        broken(slot, requestId, `the driver answered: ${outcomeText(request.answer)}`, now);
      desk.pending = undefined;
      return;
    }
    if (saysNoRoom(answer) === isEntered)
      broken(slot, requestId, `the driver ${isEntered ? "had" : "never had"} it`, now);
    if (isEntered && at - cameAt < promised) broken(slot, requestId, "its time was not up", now);
  };
  return {
    id: "S54",
    stopped: ({ slot }) => void (desks[slot] = undefined),
    atDesk: ({ slot }, act) => {
      const { what, requestId, answer, at } = act;
      const desk = (desks[slot] ??= newDesk());
      if (what !== "told") assertTold(slot, desk);
      if (what === "came") {
        desk.requests.set(requestId, { cameAt: at, isEntered: false, answer: undefined, isTold: false });
        desk.outside.push(requestId);
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
      for (const [slot, desk] of desks.entries()) if (desk !== undefined) assertTold(slot, desk);
    },
  };
};
