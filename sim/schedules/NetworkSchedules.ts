/** Schedules of links and members that say nothing or too much, and of messages that are not what their sender signed. */
import { moments } from "../moments/Moments.ts";
import { CLUSTER, type Family, weights } from "./Schedule.ts";

export const networkSchedules = {
  "drop-dup-reorder": {
    marks: { "a message was lost": 3, "a message came a second time": 3 },
    plan: () => ({
      network: { leastDelay: 50, mostDelay: 40_000, loss: 80, duplication: 150 },
      faults: weights("lossy link", "reordering network", "duplicating network", "replayed message"),
    }),
  },
  "flapping-link": {
    marks: { "a link that came and went is back": 6 },
    plan: () => ({ faults: weights("flapping link") }),
  },
  "one-way-partition": {
    marks: { "a member that was heard could not hear": 4 },
    plan: () => ({ faults: weights("one-way cut", "partition") }),
  },
  "isolate-writer-after-prepare": {
    marks: {
      "nothing more came of a writer whose proposal was out": 4,
      "a certificate delivered by another than the writer": 4,
    },
    plan: () => ({}),
    nemeses: () => [moments.isolateWriterAfterPrepare()],
  },
  "isolate-one-preparer": {
    marks: {
      "a member had prepared and could tell nobody": 4,
      "a certificate delivered by another than the writer": 4,
    },
    plan: () => ({}),
    nemeses: () => [moments.isolateOnePreparer()],
  },
  // It is unclear who settles: the writer is cut off, and the others are slow to hear of each other.
  "two-initiators": {
    marks: {
      "nothing more came of a writer whose proposal was out": 3,
      "a member had prepared and could tell nobody": 3,
      "a certificate delivered by another than the writer": 3,
    },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("slow link", "one-way cut"), faultMicros: 400_000 }),
    nemeses: () => [moments.isolateWriterAfterPrepare(), moments.isolateOnePreparer()],
  },
  "silent-preparer": {
    marks: { "a vote was kept back": 2 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("silent member", "pause") }),
  },
  // Each caller waits until all have acknowledged or it is told that nobody knows, so it takes as many callers.
  "unacknowledged-4096": {
    isRoomy: true,
    marks: { "as much waits for acknowledgements as may": 2 },
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
    marks: { "a vote for another topology was sent": 8 },
    plan: () => ({ faults: weights("altered message", "altered in flight", "replayed message"), faultMicros: 20_000 }),
  },
  "forged-merkle-proof": {
    marks: { "a vote with a false path to its root was sent": 4 },
    plan: () => ({ faults: weights("altered message", "altered in flight", "forged envelope"), faultMicros: 20_000 }),
  },
} satisfies Family;
