/** One seed, from a blank world to its last check. */
import { Choices, type Decider } from "../base/Choices.ts";
import { startFaults } from "../faults/Faults.ts";
import { Interruption } from "./Interruption.ts";
import { isolated } from "../base/Isolation.ts";
import { assertLiveness } from "./Liveness.ts";
import type { Plan } from "../base/Plan.ts";
import { planOf } from "./Planning.ts";
import type { RunOptions } from "./RunOptions.ts";
import { thrownOut } from "./ThrownOut.ts";
import { Trace } from "../world/Trace.ts";
import { Violation } from "../base/Violation.ts";
import { Workload } from "../callers/Workload.ts";
import { World, type WorldPorts } from "../world/World.ts";

const SECOND = 1_000_000;
/** A run ends here even if it has not used up its events. */
const LONGEST = 3_600 * SECOND;
/** How often it is asked whether the cluster is founded. */
const GLANCE = 20_000;

/** The result of a run. */
export interface RunResult {
  readonly seed: number;
  readonly plan: Plan;
  /** 16 hexadecimal characters over everything that happened. */
  readonly hash: string;
  readonly events: number;
  /** Requests and reads of callers; with the events, they are the steps the run took. */
  readonly calls: number;
  readonly faults: ReadonlyArray<readonly [string, number]>;
  readonly marks: ReadonlyArray<readonly [string, number]>;
  readonly violation: Violation | undefined;
}

/** Who observes a run, and what is planted in it. */
export interface RunHooks extends WorldPorts {
  readonly line?: ((line: string) => void) | undefined;
  /** Has the last word on every draw; without it the seed has. */
  readonly decider?: Decider | undefined;
}

/** Whether everybody who founds something has; a peer that waits for a promotion founds nothing. */
const isFounded = ({ peers, plan: { promotion } }: World): boolean =>
  peers.every(
    ({ slot, state }) =>
      state?.cluster.membership !== undefined || (promotion !== undefined && slot !== promotion.source),
  );

const whenFounded = (world: World, run: () => void): void => {
  if (isFounded(world)) run();
  else world.after(GLANCE, () => whenFounded(world, run));
};

const play = (world: World): void => {
  const { plan } = world;
  const workload = new Workload(world);
  for (const nemesis of world.nemeses) nemesis.started?.(world);
  for (const peer of world.peers) world.processes.startSoon(peer);
  if (plan.faultsWhileFounding) startFaults(world);
  else whenFounded(world, () => startFaults(world));
  world.promoters.start();
  workload.start();
  world.run(LONGEST, plan.steps);
  assertLiveness(world, workload);
  // Waiting callers have been answered before they give up (L10); where nothing is healed, the run does not wait.
  while (plan.mode !== "safety" && workload.isWaiting) world.run(world.now + GLANCE);
};

/**
 * Runs one seed. An error thrown in it is a finding (E1), even an `Escape`, where something asked the machine for time
 * or entropy.
 *
 * @throws {Interruption} of an observer or a decider of draws
 */
export const runSeed = (options: RunOptions, hooks: RunHooks = {}): RunResult => isolated(() => run(options, hooks));

const run = (options: RunOptions, hooks: RunHooks): RunResult => {
  const choices = new Choices(options.seed, hooks.decider);
  const { plan, nemeses } = planOf(options, choices);
  const trace = new Trace(hooks.line);
  const world = new World(plan, choices, trace, hooks);
  world.nemeses.push(...nemeses);
  let violation: Violation | undefined;
  try {
    play(world);
  } catch (fault) {
    if (fault instanceof Interruption) throw fault;
    violation = fault instanceof Violation ? fault : thrownOut(fault);
  }
  return {
    seed: options.seed,
    plan,
    hash: trace.hash,
    events: world.events,
    calls: world.chronicle.calls,
    faults: world.faults.entries(),
    marks: world.marks.entries(),
    violation,
  };
};
