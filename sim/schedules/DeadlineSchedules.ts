/** Schedules in which tokens and proposals expire before everybody has voted. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, SLUGGISH, STORM_STEPS, weights } from "./Schedule.ts";

export const deadlineSchedules = {
  "deadline-knife-edge": {
    marks: { "a token expired between its writer and a voter": 5 },
    plan: () => ({
      clockOffsetMillis: 2_400,
      faults: weights("clock step within bounds", "slow link", "one-way cut", "token keys unavailable"),
      faultMicros: 1_500_000,
      steps: 1_000,
      network: SLUGGISH,
      workload: { shortTokens: 700, mostTokenMillis: 8_000 },
    }),
    nemeses: () => [moments.judgeTooLate()],
  },
  // A writer takes no token that ends within five seconds, so a member has to be as late with its vote.
  "token-expires-mid-collect": {
    marks: { "a token expired between its writer and a voter": 3, "settled by an abort": 3 },
    sizes: CLUSTER,
    plan: () => ({
      faults: weights("slow link", "token keys unavailable", "slow disk"),
      faultMicros: 3_000_000,
      steps: 1_500,
      network: SLUGGISH,
      workload: { shortTokens: 1000, mostTokenMillis: 8_000 },
    }),
    nemeses: () => [moments.judgeTooLate()],
  },
  // Issuers out of the members' reach for longer than any caller waits.
  "token-keys-gone": {
    marks: { "a member in the way had no keys of tokens": 4 },
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
    marks: { "a clock was in the way": 4 },
    share: 50,
    plan: () => ({
      faults: weights("clock days off", "clock step beyond bounds", "crash", "seal"),
      faultMicros: 4_000_000,
      steps: 3_000,
      workload: { mostThinkMicros: 200_000, readiness: 20, invite: 5, finish: 20 },
    }),
  },
  "batch-mixed-votes": {
    marks: { "votes of one batch differed": 6, "a batch of several": 4 },
    plan: () => ({
      faults: weights("token keys unavailable", "clock step within bounds", "one-way cut"),
      faultMicros: 2_000_000,
      steps: 1_500,
      workload: { callers: 40, mostThinkMicros: 2_000, shortTokens: 400, mostTokenMillis: 8_000, conflict: 20 },
      network: SLUGGISH,
      clockOffsetMillis: 2_400,
    }),
    nemeses: () => [moments.judgeTooLate()],
  },
  // All 256 places are taken by proposals that stay undecided until they have expired, and longer.
  "expiry-storm-256": {
    isRoomy: true,
    marks: { "answered PREPARATION_CAPACITY": 4 },
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
