/** Schedules in which peers have hardly room for something: what else takes a storm is met by a few callers. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, HOLDERS, SLUGGISH, weights } from "./Schedule.ts";
import { smallOnes } from "./SmallCapacities.ts";

export const scarcitySchedules = {
  // A member applies everything and says so to nobody.
  "few-unacknowledged": {
    sizes: { quiet: 2, drawn: [2] },
    plan: (choices) => ({ capacities: smallOnes(choices, "unacknowledged", "proposalsPerMessage") }),
    nemeses: () => [moments.withholdAcknowledgements()],
  },
  // A member stays sealed until the writer has turned away more than it remembers.
  "few-refusals-remembered": {
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(choices, "queuedCommands", "denialsRemembered"),
      workload: { replace: 60, read: 60, callers: 12, mostThinkMicros: 100_000 },
    }),
    nemeses: () => [moments.copyAfterStorm()],
  },
  // What is undecided is asked about in many messages, and answered in parts.
  "few-in-a-message": {
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(choices, "proposalsPerMessage", "heldStatements", "preparations", "refusals"),
      faults: weights("token keys unavailable", "clock step within bounds", "one-way cut"),
      workload: { callers: 24, mostThinkMicros: 4_000, shortTokens: 400, mostTokenMillis: 5_000, conflict: 20 },
      network: SLUGGISH,
    }),
    nemeses: () => [moments.silenceOne()],
  },
  // Attempts fail at one member, and leave sessions at the others.
  "few-sessions": {
    plan: (choices) => ({
      capacities: smallOnes(choices, "sessions", "sessionsPerRegistrar", "offersRemembered"),
      sessionMillis: choices.plan("sessionMillis").oneOf("value", 60_000, [3_000, 60_000]),
      faults: weights("slow link", "one-way cut", "token keys unavailable"),
      workload: { ...HOLDERS, callers: 12, mostThinkMicros: 20_000, invite: 80, finish: 30 },
    }),
    nemeses: (choices) => (choices.plan("silence").chance("happens", 500) ? [moments.silenceOne()] : []),
  },
  // A holder of an invitation sends responses that are refused.
  "few-refused-finishes": {
    plan: (choices) => ({
      capacities: smallOnes(choices, "refusedFinishes", "refusedFinishesOfActor"),
      sessionMillis: 60_000,
      faults: weights("slow link"),
      workload: { ...HOLDERS, callers: 6, mostThinkMicros: 20_000, invite: 5, finish: 200, wrongResponses: 970 },
    }),
  },
  // A registry is taken over slot by slot, and added up record by record.
  "small-pages": {
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(choices, "offeredSlots", "ownSlots", "summedRecords", "listedKeys", "listedRuns", "listWork"),
      faults: choices.plan("other faults").chance("may happen", 500) ? weights("lossy link", "crash") : new Map(),
      workload: { conflict: 15 },
    }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 2 })],
  },
} satisfies Family;
