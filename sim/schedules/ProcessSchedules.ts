/** Schedules of processes that end, stand still or are sealed, and of what comes to the next one. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, STORM_STEPS, weights } from "./Schedule.ts";

export const processSchedules = {
  "crash-at-every-sync": {
    marks: { "crashed after a flush, before it was reported": 3, "crashed between two actions": 3 },
    plan: () => ({ faultsWhileFounding: true }),
    nemeses: (choices) => [moments.crashAtEverySync(choices)],
  },
  "crash-between-commit-deliveries": {
    marks: { "crashed between two actions": 4, "a certificate delivered by another than the writer": 6 },
    plan: () => ({}),
    nemeses: () => [moments.crashBetweenCommits()],
  },
  "writer-restart-loses-evidence": {
    marks: { "refused: ABANDONED": 8, "a certificate delivered by another than the writer": 6 },
    plan: () => ({}),
    nemeses: () => [moments.writerRestartAfterPrepare()],
  },
  // Members are sealed or gone for a moment, so that the writer turns away what would be done a second later.
  "copy-after-restart": {
    marks: { "a copy of a refused request came to the writer's next process": 12 },
    sizes: CLUSTER,
    plan: () => ({
      faults: weights("seal", "crash"),
      faultMicros: 800_000,
      workload: { replace: 60, read: 60, callers: 4 },
    }),
    nemeses: () => [moments.copyAfterRestart()],
  },
  // A member stays sealed until the writer has turned away more than it remembers.
  "copy-after-storm": {
    isRoomy: true,
    marks: { "a copy came of a request whose refusal the writer had forgotten": 3 },
    share: 5,
    sizes: CLUSTER,
    plan: () => ({
      steps: 2 * STORM_STEPS,
      capacities: { queuedCommands: 256 },
      workload: { replace: 60, read: 60, callers: 240, mostThinkMicros: 400_000 },
    }),
    nemeses: () => [moments.copyAfterStorm()],
  },
  "seal-unseal-churn": {
    marks: { "sealed while its rows were verified": 8 },
    plan: () => ({ faults: weights("seal"), faultMicros: 150_000, faultsWhileFounding: true }),
  },
  // Peers end while operators initialize, seal, unseal and are refused.
  "operators-and-crashes": {
    marks: { "sealed while its rows were verified": 4, "answered Rotated": 3 },
    plan: () => ({
      faults: weights("seal", "crash", "crash, bytes visible", "power loss", "rotated integrity key"),
      faultMicros: 60_000,
      faultsWhileFounding: true,
    }),
  },
  "pause-and-drift": {
    marks: { "what had waited for a peer that stood still came at once": 4 },
    plan: () => ({ faults: weights("pause", "clock drift", "clock step within bounds"), clockOffsetMillis: 1_000 }),
  },
} satisfies Family;
