/** Schedules in which peers have hardly room for something: what else takes a storm is met by a few callers. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, HOLDERS, weights } from "./Schedule.ts";
import { smallOnes } from "./SmallCapacities.ts";

export const scarcitySchedules = {
  // A member applies everything and says so to nobody.
  "few-unacknowledged": {
    marks: { "as much waits for acknowledgements as may": 6 },
    sizes: { quiet: 2, drawn: [2] },
    plan: (choices) => ({ capacities: smallOnes(choices, "unacknowledged", "proposalsPerMessage") }),
    nemeses: () => [moments.withholdAcknowledgements()],
  },
  // A member stays sealed until the writer has turned away more than it remembers.
  "few-refusals-remembered": {
    marks: { "a copy came of a request whose refusal the writer had forgotten": 6 },
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(choices, "queuedCommands", "denialsRemembered"),
      workload: { replace: 60, read: 60, callers: 12, mostThinkMicros: 100_000 },
    }),
    nemeses: () => [moments.copyAfterStorm()],
  },
  // Every place is taken by a proposal that stays undecided until it has expired, and longer.
  "few-preparations": {
    marks: { "a receipt of a third member": 3 },
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(choices, "preparations", "refusals"),
      steps: 2_000,
      workload: { callers: 16, fresh: 60, mostThinkMicros: 40_000, shortTokens: 1000, mostTokenMillis: 12_000 },
    }),
    nemeses: () => [moments.silenceOne()],
  },
  // Attempts fail at one member, and leave sessions at the others.
  "few-sessions": {
    marks: { "answered SESSION_CAPACITY": 4 },
    plan: (choices) => ({
      capacities: {
        ...smallOnes(choices, "sessionsPerRegistrar", "offersRemembered", "evidenceBytes"),
        ...(choices.plan("few altogether").chance("happens", 500) ? smallOnes(choices, "sessions") : {}),
      },
      sessionMillis: choices.plan("sessionMillis").oneOf("value", 60_000, [3_000, 60_000]),
      faults: weights("slow link", "one-way cut", "token keys unavailable"),
      workload: { ...HOLDERS, callers: 12, mostThinkMicros: 20_000, invite: 80, finish: 30 },
    }),
    nemeses: (choices) => (choices.plan("silence").chance("happens", 500) ? [moments.silenceOne()] : []),
  },
  // A holder of an invitation sends responses that are refused.
  "few-refused-finishes": {
    marks: { "answered TOO_MANY_ATTEMPTS": 4 },
    plan: (choices) => ({
      capacities: smallOnes(choices, "refusedFinishes", "refusedFinishesOfActor"),
      sessionMillis: 60_000,
      faults: weights("slow link"),
      workload: { ...HOLDERS, callers: 6, mostThinkMicros: 20_000, invite: 5, finish: 200, wrongResponses: 970 },
    }),
  },
  // A registry is taken over slot by slot, and added up record by record.
  "small-pages": {
    marks: { "a registry taken over in several pages": 6 },
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(
        choices,
        "offeredSlots",
        "comparedSlots",
        "ownSlots",
        "summedRecords",
        "listedKeys",
        "listedRuns",
        "listWork",
        "searchWork",
      ),
      faults: choices.plan("other faults").chance("may happen", 500) ? weights("lossy link", "crash") : new Map(),
      workload: { conflict: 15 },
    }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 2 })],
  },
} satisfies Family;
