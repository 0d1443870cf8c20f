/** Schedules of callers that are after the same key, the same approver or the same revision. */
import { Limits } from "../../core/base/Limits.ts";
import { moments } from "../moments/Moments.ts";
import { among, BUSY_FAULTS, CLUSTER, type Family, SLUGGISH, weights } from "./Schedule.ts";

export const rivalSchedules = {
  "twin-keys-two-ids": {
    marks: { "answered KEY_ALREADY_REGISTERED": 4 },
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link"),
      workload: { fresh: 10, conflict: 60, callers: 16, mostThinkMicros: 4_000 },
    }),
  },
  // One key, submitted in one format after another, under its own id and under others.
  "format-switch-same-key": {
    marks: { "a known key came in another format": 3, "answered KEY_ALREADY_REGISTERED": 4 },
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link", "request through two peers"),
      workload: { fresh: 12, retry: 40, conflict: 40, callers: 12, mostThinkMicros: 8_000, otherFormats: 600 },
    }),
  },
  "retry-storm-identical": {
    marks: { "answered 200": 3 },
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy network"),
      workload: { fresh: 4, retry: 90, callers: 24, mostThinkMicros: 3_000 },
    }),
  },
  // Callers join changes that are applied and stay unacknowledged, so that each waits until its own time is up.
  "retry-storm-unacknowledged": {
    marks: { "a vote was kept back": 2 },
    sizes: CLUSTER,
    plan: () => ({
      steps: 3_000,
      network: SLUGGISH,
      workload: {
        fresh: 20,
        retry: 20,
        follow: 60,
        invite: 10,
        finish: 20,
        callers: 12,
        mostThinkMicros: 900_000,
      },
    }),
    nemeses: () => [moments.withholdAcknowledgements()],
  },
  // Members now and then refuse proposals that others have joined.
  "retry-storm-refused": {
    marks: { "a request that had joined a refused one was queued again": 4 },
    share: 40,
    plan: () => ({
      faults: weights("one-way cut", "token keys unavailable"),
      // With less, links are down all the time and nothing is proposed.
      faultMicros: 3_000_000,
      steps: 3_000,
      network: SLUGGISH,
      workload: { fresh: 10, retry: 10, follow: 80, callers: 24, mostThinkMicros: 20_000 },
    }),
    nemeses: () => [moments.disbelieveTokens()],
  },
  // More callers than there are places, and many who are refused while others wait for what they race for.
  crowd: {
    marks: { "answered REQUEST_CAPACITY": 6 },
    plan: (choices) => ({
      faults: weights(...BUSY_FAULTS, "lossy network", "slow link"),
      steps: 1_500,
      faultMicros: 6_000_000,
      capacities: { queuedCommands: among(choices, "places", 8, 8, 16, 24) },
      workload: {
        fresh: 30,
        retry: 10,
        replace: 25,
        guess: 25,
        race: 10,
        callers: 48,
        mostThinkMicros: 5_000,
        mostKeys: 200,
      },
    }),
    nemeses: () => [moments.withholdAcknowledgements()],
  },
  // In a crowd that is after few approvers, very many are refused while others wait for the one before them.
  "refused-behind-waiting": {
    marks: { "answered REQUEST_CAPACITY": 3 },
    share: 15,
    sizes: CLUSTER,
    plan: (choices) => ({
      faults: weights("lossy link"),
      faultMicros: 500_000,
      capacities: { queuedCommands: among(choices, "places", 16, 16, 24) },
      steps: 6_000,
      workload: { fresh: 100, retry: 10, follow: 10, replace: 20, guess: 20, callers: 100, mostThinkMicros: 5_000 },
    }),
    nemeses: () => [moments.refuseBehind()],
  },
  // Nearly every body as long as one may be, so that few fit into a round, a message or a line, and some longer than that.
  "heavy-bodies": {
    marks: { "broken 8 body": 60 },
    share: 15,
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link", "duplicating network"),
      bodyBytes: Limits.requestBodyBytes,
      steps: 400,
      workload: {
        fresh: 60,
        retry: 20,
        conflict: 10,
        invite: 15,
        finish: 30,
        edges: 120,
        callers: 40,
        mostThinkMicros: 3_000,
        mostKeys: 120,
      },
    }),
  },
  // A caller that registers again is told what is there while it changes, and one member is late to hear of the change.
  "retry-among-replacements": {
    marks: { "a change was agreed on while a member was asked what it stores": 4 },
    sizes: CLUSTER,
    plan: () => ({
      workload: {
        fresh: 4,
        retry: 50,
        conflict: 0,
        version: 0,
        replace: 50,
        read: 60,
        mostThinkMicros: 5_000,
        mostKeys: 4,
      },
    }),
    nemeses: () => [moments.changeWhileAsked()],
  },
  "metadata-ping-pong": {
    marks: { "answered PRECONDITION_FAILED": 3, "racer: success": 4 },
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy network", "duplicating network", "replayed message", "slow link", "crash"),
      faultMicros: 1_500_000,
      workload: {
        fresh: 6,
        retry: 6,
        conflict: 0,
        version: 0,
        replace: 50,
        guess: 15,
        race: 30,
        callers: 12,
        mostThinkMicros: 20_000,
        mostKeys: 6,
      },
    }),
  },
} satisfies Family;
