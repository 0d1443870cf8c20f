/** Schedules of disks that lose, change, refuse or delay what is written to them. */
import { moments } from "../moments/Moments.ts";
import { among, BUSY_FAULTS, CLUSTER, type Family, HOLDERS, weights } from "./Schedule.ts";
import { smallOnes } from "./SmallCapacities.ts";

export const diskSchedules = {
  "row-tamper-delete": {
    marks: { "a read found damage": 4, "the disk of a sealed peer was exchanged": 20 },
    plan: () => ({ faults: weights("bit rot", "deleted row", "lost record", "torn write", "repaired rows", "crash") }),
    nemeses: (choices) => [moments.exchangeDisk(choices)],
  },
  // Rows are gone, or come back as they were, before an unseal that does not look at all of them.
  "rows-unread": {
    marks: {
      "rows were changed while no process ran": 4,
      "a row was altered while no process ran": 8,
      "a range of rows was put back as it was": 8,
    },
    share: 110,
    isSealed: true,
    plan: () => ({
      faults: weights("deleted row", "repaired rows", "crash", "seal"),
      faultMicros: 2_000_000,
      workload: { fresh: 40, retry: 60, callers: 12, mostThinkMicros: 40_000 },
    }),
    nemeses: (choices) => [moments.changeRowsWhileDown(choices)],
  },
  // The writer finds a row damaged while requests forwarded by others wait.
  "damage-under-forward": {
    marks: { "the writer told a forwarded request of damage": 5 },
    sizes: CLUSTER,
    plan: () => ({
      faults: weights("repaired rows"),
      workload: { fresh: 20, retry: 60, callers: 12, mostThinkMicros: 40_000 },
    }),
    nemeses: () => [moments.damageUnderForward()],
  },
  // The session of a finish is damaged at the entry peer, and is not repaired before the caller gives up.
  "damage-under-finish": {
    marks: { "a session was damaged as soon as it was kept": 3 },
    share: 30,
    plan: () => ({
      faults: weights("repaired rows"),
      faultMicros: 6_000_000,
      steps: 3_000,
      workload: { ...HOLDERS, mostThinkMicros: 400_000 },
    }),
    nemeses: () => [moments.damageUnderFinish()],
  },
  "integrity-history-missing": {
    marks: { "an integrity key was missing from the history": 3 },
    plan: () => ({
      faults: weights("rotated integrity key", "lost integrity key", "repaired rows", "crash", "seal", ...BUSY_FAULTS),
    }),
  },
  "wal-tail-loss": {
    marks: { "a transaction was torn": 3 },
    plan: () => ({
      faults: weights("torn write", "repaired rows", "power loss during a flush", "power loss", "crash, bytes visible"),
      disk: { leastFlushMicros: 500, mostFlushMicros: 8_000 },
    }),
  },
  "torn-reservation": {
    marks: { "a transaction was torn": 3 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("repaired rows"), faultMicros: 2_000_000, workload: { readiness: 20 } }),
    nemeses: () => [moments.tearReservation()],
  },
  // Peers go on to a version that makes an index of more approvers than it takes at once.
  "disks-before-the-index": {
    marks: { "list: INDEXING": 4, "the making of an index was cut by a crash": 4 },
    share: 10,
    plan: () => ({
      steps: 5_000,
      faults: weights("crash", "crash, bytes visible", "power loss", "seal"),
      faultMicros: 1_500_000,
      disk: { leastFlushMicros: 200, mostFlushMicros: 10_000 },
      workload: { callers: 24, mostThinkMicros: 4_000, fresh: 400, mostKeys: 250 },
    }),
    nemeses: (choices) => [moments.olderVersion(choices, [70, 200])],
  },
  "disk-full": {
    marks: { "a full disk refused a write": 3 },
    plan: () => ({ faults: weights("full disk", "failed flush, lost") }),
  },
  "sync-error": {
    marks: { "halted by a failed flush": 3 },
    plan: () => ({ faults: weights("failed flush, lost", "failed flush, durable") }),
  },
  "slow-disk-pipeline": {
    marks: {
      "read while a flush was under way": 4,
      "crashed before a flush ended": 4,
      "a peer's time to answer was up": 16,
    },
    plan: (choices) => ({
      answerMillis: among(choices, "answerMillis", 10_000, 10_000, 1_000),
      capacities: choices.plan("few at once").chance("happens", 500) ? smallOnes(choices, "commandsAtOnce") : {},
      disk: { leastFlushMicros: 20_000, mostFlushMicros: 200_000 },
      faults: weights("slow disk", "crash during a flush, bytes visible", "crash during a flush"),
      workload: { callers: 40, mostThinkMicros: 5_000 },
    }),
  },
} satisfies Family;
