/** Schedules in which tokens and proposals expire before everybody has voted. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, SLUGGISH, STORM_STEPS, weights } from "./Schedule.ts";

export const deadlineSchedules = {
  "deadline-knife-edge": {
    plan: () => ({
      clockOffsetMillis: 2_400,
      faults: weights("clock step within bounds", "slow link", "one-way cut", "token keys unavailable"),
      network: SLUGGISH,
      workload: { shortTokens: 700, mostTokenMillis: 5_000 },
    }),
  },
  "token-expires-mid-collect": {
    plan: () => ({
      faults: weights("slow link", "token keys unavailable", "slow disk"),
      network: SLUGGISH,
      workload: { shortTokens: 1000, mostTokenMillis: 5_000 },
    }),
  },
  // Issuers out of the members' reach for longer than any caller waits.
  "token-keys-gone": {
    share: 50,
    sizes: CLUSTER,
    plan: () => ({
      faults: weights("token keys gone"),
      faultMicros: 8_000_000,
      steps: 3_000,
      workload: { mostThinkMicros: 400_000, readiness: 20 },
    }),
  },
  // Clocks that are set wrong by days for some seconds, everywhere and nowhere.
  "clocks-days-off": {
    share: 50,
    plan: () => ({
      faults: weights("clock days off", "clock step beyond bounds", "crash", "seal"),
      faultMicros: 4_000_000,
      steps: 3_000,
      workload: { mostThinkMicros: 200_000, readiness: 20, invite: 5, finish: 20 },
    }),
  },
  "batch-mixed-votes": {
    plan: () => ({
      faults: weights("token keys unavailable", "clock step within bounds", "one-way cut"),
      workload: { callers: 40, mostThinkMicros: 2_000, shortTokens: 400, mostTokenMillis: 5_000, conflict: 20 },
      network: SLUGGISH,
      clockOffsetMillis: 2_400,
    }),
  },
  // All 256 places are taken by proposals that stay undecided until they have expired, and longer.
  "expiry-storm-256": {
    isRoomy: true,
    share: 10,
    sizes: CLUSTER,
    plan: () => ({
      steps: STORM_STEPS,
      workload: {
        callers: 320,
        fresh: 60,
        replace: 2,
        mostThinkMicros: 40_000,
        shortTokens: 1000,
        mostTokenMillis: 12_000,
      },
    }),
    nemeses: () => [moments.silenceOne()],
  },
} satisfies Family;
