/** Schedules of machines that are replaced, set back to an older disk, copied or set up as another one. */
import type { Choices } from "../base/Choices.ts";
import type { FaultName } from "../faults/Faults.ts";
import { clonedDisk } from "../faults/ClonedDisk.ts";
import { endedAndKept } from "../moments/EndedAndKept.ts";
import { lateReceipt } from "../faults/LateReceipt.ts";
import { lateAnnouncement } from "../moments/LateAnnouncement.ts";
import { moments } from "../moments/Moments.ts";
import { among, BUSY_FAULTS, CLUSTER, type Family, happens, type Sizes, weights } from "./Schedule.ts";

/** With fewer members, none is left that was never restored and still holds its pledge. */
const FOUR_OR_FIVE: Sizes = { quiet: 4, drawn: [4, 5] };

/** In every other run something happens beside the restores. */
const otherFaults = (choices: Choices, ...names: ReadonlyArray<FaultName>): ReadonlyMap<FaultName, number> =>
  choices.plan("other faults").chance("may happen", 500) ? weights(...BUSY_FAULTS, ...names) : new Map();

export const restoreSchedules = {
  "wiped-peer": {
    marks: { "a blank machine stood in for a member": 3 },
    sizes: CLUSTER,
    plan: () => ({ faultsWhileFounding: true }),
    nemeses: (choices) => [moments.wipeOne(choices)],
  },
  "duplicate-id": {
    marks: { "a peer in the place of another was named": 3 },
    sizes: CLUSTER,
    plan: () => ({}),
    nemeses: () => [moments.duplicateId()],
  },
  "rollback-silent": {
    marks: {
      "a peer came back on an older disk and said nothing": 5,
      "an announcement was heard when its disk had gone back": 10,
    },
    sizes: CLUSTER,
    // Of fewer steps, most end before the disk is photographed.
    plan: (choices) => ({ steps: 1_500, faults: otherFaults(choices, "lossy link", "slow link") }),
    // Where nothing else happens, nobody but those who cannot count its votes shows a member what is on record of it.
    nemeses: (choices, { faults }) =>
      faults?.size === 0 && happens(choices, "an announcement comes late", 700)
        ? [lateAnnouncement(choices)]
        : [moments.rollBackOne(choices)],
  },
  "cloned-disk": {
    marks: { "a peer came back on an older disk and said nothing": 5 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("lossy link", "slow link") }),
    nemeses: (choices) => [clonedDisk(choices)],
  },
  "rollback-declared": {
    marks: { "a restore was declared": 3, "a restored peer is a member again": 4 },
    sizes: CLUSTER,
    plan: (choices) => ({ faults: otherFaults(choices, "lossy link", "slow link") }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 1 })],
  },
  "double-declared-restore": {
    marks: { "a restore was declared": 3, "a restored peer is a member again": 4 },
    sizes: CLUSTER,
    plan: (choices) => ({ faults: otherFaults(choices, "lossy link") }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 3 })],
  },
  // The backups are of before the founding: such a peer is first shown the topology of that.
  "restore-of-day-zero": {
    marks: { "restored from before the founding": 4 },
    sizes: CLUSTER,
    plan: (choices) => ({ faults: otherFaults(choices, "lossy link", "crash") }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 2, isEarly: true })],
  },
  // No member is left that was not restored, and disks differ by what happened in between.
  "restores-everywhere": {
    marks: { "every member was restored at once": 4 },
    sizes: CLUSTER,
    plan: (choices) => ({
      faults: new Map([...otherFaults(choices, "lossy link", "crash"), ["restores declared everywhere", 40]]),
      faultMicros: among(choices, "faultMicros", 400_000, 400_000, 1_500_000),
      workload: { replace: 30, read: 30 },
    }),
  },
  // One of the disks has a change that all had seen the end of.
  "restores-beside-an-end": {
    marks: { "all were restored beside a disk on which something is done that has ended": 4 },
    sizes: CLUSTER,
    plan: () => ({ workload: { callers: 2, mostThinkMicros: 400_000 } }),
    nemeses: () => [endedAndKept()],
  },
  "recover-under-load": {
    marks: { "a restored peer is a member again": 4 },
    sizes: CLUSTER,
    plan: () => ({
      faults: weights(...BUSY_FAULTS, "lossy network", "reordering network", "replayed message", "crash"),
      workload: { callers: 24, mostThinkMicros: 4_000 },
    }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 2 })],
  },
  "recover-helper-lagging": {
    marks: { "a restored peer is a member again": 4 },
    sizes: CLUSTER,
    plan: () => ({ workload: { callers: 12, mostThinkMicros: 20_000 } }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 1, isHelperLagging: true })],
  },
  // More slots than fit a page of the registry that is taken over, and more approvers than are summed up at once.
  "restore-of-many": {
    marks: { "a restored peer is a member again": 4 },
    share: 20,
    sizes: CLUSTER,
    plan: (choices) => ({
      steps: 6_000,
      faults: choices.plan("other faults").chance("may happen", 500) ? weights("lossy link", "crash") : new Map(),
      faultMicros: 400_000,
      workload: { callers: 24, mostThinkMicros: 4_000, fresh: 1_000, mostKeys: 400 },
    }),
    nemeses: (choices) => [
      moments.restoreDeclared(choices, {
        times: 2,
        fromSlots: choices.plan("slots").between("from", 80, 70, 300),
      }),
    ],
  },
  // A part of the new incarnation is on the disk; a sealed peer does not know that, and others ask what it remembers.
  "torn-restore": {
    marks: { "a restore was declared": 3, "a transaction was torn": 4 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("repaired rows"), faultMicros: 2_000_000, workload: { readiness: 20 } }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 2, isTorn: true })],
  },
  // The story of decision 0015: what an old acknowledgement has freed, a new incarnation must not refuse.
  "restores-around-late-receipt": {
    marks: { "restored around a late receipt": 4 },
    sizes: FOUR_OR_FIVE,
    plan: () => ({ workload: { callers: 2, mostThinkMicros: 400_000 } }),
    nemeses: () => [lateReceipt()],
  },
} satisfies Family;
