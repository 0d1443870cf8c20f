/**
 * What callers ask for in the end, when everything works. L12: once one change has gone through, what succeeds does so
 * at once. A message that was never sent, or an answer that nobody passed on, is said again by a timer, and so anything
 * that only comes about by a timer's help comes too late for this.
 */
import { Violation } from "../base/Violation.ts";
import type { Workload } from "../callers/Workload.ts";
import type { Asked } from "../requests/Asked.ts";
import { isDone, type Outcome, outcomeText } from "../requests/Outcome.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

/** Microseconds: the first timer that says anything again fires after a second. */
const AT_ONCE = 900_000;
/** Microseconds after which it is looked again. */
const GLANCE = 50_000;

/** Sends one request and lets the world run until it is answered or given up. */
export const attempt = (world: World, workload: Workload, peer: SimPeer, asked: Asked): Outcome => {
  const outcomes: Array<Outcome> = [];
  workload.ask(peer, asked, (outcome) => outcomes.push(outcome));
  // The workload itself gives up after a while, so something always comes.
  for (;;) {
    const [outcome] = outcomes;
    if (outcome !== undefined) return outcome;
    world.run(world.now + GLANCE);
  }
};

/**
 * Whether no request is before this one, no member lied, none has so little room that it turns messages away, and no
 * link waits for what was lost before.
 */
const isIdle = ({ plan, ghost, mail, peers }: World, workload: Workload): boolean =>
  plan.hasSessions === true &&
  plan.narrow === undefined &&
  mail.isOpen &&
  !workload.isWaiting &&
  ghost.lying === 0 &&
  peers.every(({ state }) => {
    const requests = state?.requests;
    return requests?.entering.length === 0 && requests.awaited.size === 0 && requests.queue.length === 0;
  });

/**
 * The same in a world that is calm and at rest.
 *
 * @throws {Violation} L12 where it succeeds too late
 */
export const attemptAtOnce = (world: World, workload: Workload, peer: SimPeer, asked: Asked): Outcome => {
  const askedAt = world.now;
  const wasIdle = isIdle(world, workload);
  const outcome = attempt(world, workload, peer, asked);
  const micros = world.now - askedAt;
  if (wasIdle && isDone(outcome) && micros > AT_ONCE)
    throw new Violation(
      "L12",
      "everything was healed and at rest, and a change had gone through",
      `${asked.kind} through peer ${peer.slot} gave ${outcomeText(outcome)} after ${micros / 1_000} ms`,
    );
  return outcome;
};
