/** Schedules of registrars and holders of passkeys. */
import { moments } from "../moments/Moments.ts";
import type { WorkloadPlan } from "../base/Plan.ts";
import { BUSY_FAULTS, CLUSTER, type Family, HOLDERS, STORM_STEPS, weights } from "./Schedule.ts";

/** Callers that only ask for options. */
const ONLY_REGISTRARS: Partial<WorkloadPlan> = {
  fresh: 0,
  retry: 0,
  conflict: 0,
  version: 0,
  replace: 0,
  guess: 0,
  race: 0,
  read: 0,
  readiness: 0,
  invite: 1,
  shortTokens: 0,
};

export const enrollmentSchedules = {
  // Holders answer the same options, with two authenticators and through two peers.
  "finish-race-two-peers": {
    marks: { "holder, racing: refused": 3, "answered REGISTRATION_COMPLETED": 3 },
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy link", "duplicating network"),
      workload: { ...HOLDERS, callers: 16, mostThinkMicros: 8_000 },
    }),
  },
  "finish-invalid-then-valid": {
    marks: { "answered INVALID_CEREMONY": 4, "holder, racing: success": 6 },
    plan: () => ({
      faults: weights("lossy network", "replayed message", "crash", "token keys unavailable"),
      workload: { ...HOLDERS, badTokens: 200 },
    }),
  },
  // A cluster becomes another relying party's now and then, whose passkeys may have the ids of those before.
  "another-relying-party": {
    marks: { "kept 2.3 credential": 20, "a peer was started for another relying party": 6 },
    share: 300,
    plan: () => ({
      faults: weights("another relying party", "crash between actions"),
      faultMicros: 600_000,
      workload: { ...HOLDERS, callers: 12, mostThinkMicros: 8_000, wrongResponses: 150, edges: 60 },
    }),
  },
  // More options than there is room for, and sessions that end while they are answered.
  "session-capacity-edge": {
    isRoomy: true,
    marks: { "answered SESSION_CAPACITY": 8, "answered REGISTRATION_EXPIRED": 6 },
    plan: (choices) => ({
      sessionMillis: choices.plan("sessionMillis").oneOf("value", 60_000, [3_000, 60_000]),
      steps: 1_500,
      faults: weights(...BUSY_FAULTS, "slow link"),
      workload: { ...HOLDERS, callers: 24, mostThinkMicros: 10_000, invite: 80, finish: 30 },
    }),
  },
  // More attempts fail at one member than the others have room for.
  "session-storm": {
    isRoomy: true,
    marks: { "answered SESSION_CAPACITY": 3 },
    share: 15,
    sizes: CLUSTER,
    plan: () => ({
      steps: STORM_STEPS,
      sessionMillis: 60_000,
      workload: { ...ONLY_REGISTRARS, callers: 64 },
    }),
    nemeses: () => [moments.silenceOne()],
  },
  // A holder of an invitation sends responses that are refused, as quickly as it can.
  "hostile-holder": {
    marks: { "answered TOO_MANY_ATTEMPTS": 5 },
    plan: () => ({
      sessionMillis: 60_000,
      faults: weights("slow link"),
      workload: { ...HOLDERS, callers: 32, mostThinkMicros: 5_000, invite: 1, finish: 200, wrongResponses: 970 },
    }),
  },
  // Members crash with a response reserved, and sessions end meanwhile.
  "finish-across-crashes": {
    marks: { "crashed with a response reserved": 4 },
    plan: () => ({
      sessionMillis: 4_000,
      faults: weights(...BUSY_FAULTS, "clock step within bounds", "slow link"),
      clockOffsetMillis: 1_000,
      workload: HOLDERS,
    }),
    nemeses: () => [moments.crashReserved()],
  },
  "enroll-and-restore": {
    marks: { "a restored peer is a member again": 5 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights(...BUSY_FAULTS), workload: HOLDERS }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 2 })],
  },
} satisfies Family;
