/** Schedules of links and members that say nothing or too much, and of messages that are not what their sender signed. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, weights } from "./Schedule.ts";

export const networkSchedules = {
  "drop-dup-reorder": {
    plan: () => ({
      network: { leastDelay: 50, mostDelay: 40_000, loss: 80, duplication: 150 },
      faults: weights("lossy link", "reordering network", "duplicating network", "replayed message"),
    }),
  },
  "flapping-link": { plan: () => ({ faults: weights("flapping link") }) },
  "one-way-partition": { plan: () => ({ faults: weights("one-way cut", "partition") }) },
  "isolate-writer-after-prepare": { plan: () => ({}), nemeses: () => [moments.isolateWriterAfterPrepare()] },
  "isolate-one-preparer": { plan: () => ({}), nemeses: () => [moments.isolateOnePreparer()] },
  // It is unclear who settles: the writer is cut off, and the others are slow to hear of each other.
  "two-initiators": {
    sizes: CLUSTER,
    plan: () => ({ faults: weights("slow link", "one-way cut"), faultMicros: 400_000 }),
    nemeses: () => [moments.isolateWriterAfterPrepare(), moments.isolateOnePreparer()],
  },
  "silent-preparer": { sizes: CLUSTER, plan: () => ({ faults: weights("silent member", "pause") }) },
  // Each caller waits until all have acknowledged or it is told that nobody knows, so it takes as many callers.
  "unacknowledged-4096": {
    isRoomy: true,
    share: 2,
    sizes: { quiet: 2, drawn: [2] },
    plan: () => ({
      // No caller is to be kept waiting at an entry peer.
      capacities: { queuedCommands: 16_384 },
      steps: 10_000,
      disk: { leastFlushMicros: 4_000, mostFlushMicros: 8_000 },
      workload: {
        callers: 5_000,
        fresh: 1_000,
        leastThinkMicros: 1_200_000,
        mostThinkMicros: 2_000_000,
        mostKeys: 8_000,
      },
    }),
    nemeses: () => [moments.withholdAcknowledgements()],
  },
  "receipt-replay-cross-topology": {
    plan: () => ({ faults: weights("altered message", "altered in flight", "replayed message"), faultMicros: 20_000 }),
  },
  "forged-merkle-proof": {
    plan: () => ({ faults: weights("altered message", "altered in flight", "forged envelope"), faultMicros: 20_000 }),
  },
} satisfies Family;
