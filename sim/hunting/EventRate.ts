/** How many events a second the simulator does, with every checker on; for the bench. */
import type { Backend } from "../crypto/Cryptography.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import { runSeed } from "../run/Simulation.ts";
import type { Tier } from "../base/Tier.ts";

export interface EventRateOptions {
  /** Milliseconds by the caller's clock; the simulator has none. */
  readonly nowMillis: () => number;
  /** How long to measure, after as long again to warm up. */
  readonly millis: number;
  readonly crypto: Tier;
  /** The backend of what is computed for real. */
  readonly backend?: Backend | undefined;
  readonly schedule?: ScheduleName | undefined;
  readonly peers?: number | undefined;
  readonly steps?: number | undefined;
}

export interface EventRate {
  readonly events: number;
  readonly seeds: number;
  readonly millis: number;
  readonly eventsPerSecond: number;
}

const runFor = ({ nowMillis, millis, backend, ...options }: EventRateOptions, first: number): EventRate => {
  const startedAt = nowMillis();
  let events = 0;
  let seeds = 0;
  let passed = 0;
  while (passed < millis) {
    const { violation, ...run } = runSeed({ seed: first + seeds, ...options }, { backend });
    if (violation !== undefined) throw violation;
    events += run.events;
    seeds += 1;
    passed = nowMillis() - startedAt;
  }
  return { events, seeds, millis: passed, eventsPerSecond: Math.round((events * 1000) / passed) };
};

/** Measures runs of one tier on this thread. Throws the violation if a seed has one. */
export const measureEvents = (options: EventRateOptions): EventRate => {
  const { seeds } = runFor(options, 1);
  return runFor(options, 1 + seeds);
};
