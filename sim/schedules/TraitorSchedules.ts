/** Schedules with one member that lies, each in a way of its own. */
import type { Choices } from "../base/Choices.ts";
import type { FaultName } from "../faults/Faults.ts";
import { betray } from "../faults/Treason.ts";
import { moments } from "../moments/Moments.ts";
import { BUSY_FAULTS, CLUSTER, type Family, happens, HOLDERS, weights } from "./Schedule.ts";
import { smallOnes } from "./SmallCapacities.ts";

/** In most runs something happens beside the lies. */
const otherFaults = (choices: Choices, ...names: ReadonlyArray<FaultName>): ReadonlyMap<FaultName, number> =>
  happens(choices, "other faults", 600) ? weights(...BUSY_FAULTS, ...names) : new Map();

export const traitorSchedules = {
  "equivocating-writer": {
    marks: { "an equivocating writer: split": 4 },
    sizes: CLUSTER,
    plan: (choices) => ({ faults: otherFaults(choices, "one-way cut", "replayed message", "slow link") }),
    nemeses: () => [betray("equivocating writer")],
  },
  "lying-writer": {
    marks: { "a writer lied about effects": 4 },
    share: 50,
    sizes: CLUSTER,
    plan: () => ({ faults: weights("crash") }),
    nemeses: () => [betray("lying writer")],
  },
  // Half of what its neighbour had: every other seed draws what it drew.
  "aborts-without-end": {
    marks: { "a writer proposed what nobody had asked for": 3, "a member had aborted as much as it may": 4 },
    share: 50,
    sizes: CLUSTER,
    plan: (choices) => ({ capacities: smallOnes(choices, "aborts"), faults: otherFaults(choices, "slow link") }),
    nemeses: () => [betray("endless writer"), moments.abortedEnough()],
  },
  "equivocating-refuser": {
    marks: { "a member signed a receipt and a refusal": 4 },
    sizes: CLUSTER,
    plan: (choices) => ({ faults: otherFaults(choices, "one-way cut", "slow link", "partition") }),
    nemeses: () => [betray("equivocating refuser")],
  },
  // The writer contradicts itself: it has all receipts, shows a refusal, and delivers later what it kept back.
  "late-certificate-vs-settlement": {
    marks: { "a member signed a receipt and a refusal": 4, "a late certificate met a settlement": 8 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("slow link", "one-way cut") }),
    nemeses: () => [betray("equivocating refuser", 1)],
  },
  "lying-session-writer": {
    marks: { "a writer lied about a session": 4 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("crash"), workload: { ...HOLDERS, callers: 12 } }),
    nemeses: () => [betray("lying session writer")],
  },
  "falsifying-writer": {
    marks: { "a writer lied about an outcome": 4 },
    share: 250,
    sizes: CLUSTER,
    plan: (choices) => ({
      faults: otherFaults(choices, "slow link", "one-way cut"),
      workload: { ...HOLDERS, fresh: 20, retry: 20, replace: 25, race: 10, follow: 10, callers: 8 },
    }),
    nemeses: () => [betray("falsifying writer")],
  },
  "forgetful-keeper": {
    marks: { "a member acknowledged a session that it did not keep": 4 },
    sizes: CLUSTER,
    plan: () => ({ faults: weights("crash"), workload: { ...HOLDERS, callers: 12 } }),
    nemeses: () => [betray("forgetful keeper")],
  },
  "loose-tongue": {
    marks: {
      "a member said what its driver had not": 3,
      "a member said that the writer had forgotten a slot": 12,
      "a member was told of a restore that it had not announced": 8,
      "a member spoke for the writer": 12,
    },
    sizes: CLUSTER,
    plan: (choices) => ({
      faults: happens(choices, "other faults", 250) ? weights("slow link", "crash") : new Map(),
      workload: { ...HOLDERS, fresh: 25, retry: 15, replace: 15, race: 5, badTokens: 150, callers: 8 },
    }),
    nemeses: () => [betray("loose tongue")],
  },
  // It helps members that take the registry over, slot by slot: who has lost nothing is not faulty.
  "loose-tongue-helps": {
    marks: { "a field of a SnapshotOffer was a lie": 6, "a restored peer is a member again": 4 },
    share: 50,
    sizes: CLUSTER,
    plan: (choices) => ({
      capacities: smallOnes(choices, "offeredSlots", "comparedSlots", "ownSlots"),
      steps: 2_000,
      workload: { callers: 4, mostThinkMicros: 60_000 },
    }),
    nemeses: () => [betray("loose tongue"), moments.restoreWithoutLoss(12)],
  },
  "source-omits": {
    marks: { "a source left out a part of the registry": 4, "a restored peer is a member again": 4 },
    share: 50,
    sizes: CLUSTER,
    plan: (choices) => ({
      // A writer that goes on without end is soon further than anybody votes.
      capacities: {
        ...smallOnes(choices, "offeredSlots", "comparedSlots", "ownSlots", "summedRecords", "preparations"),
        slotWindow: 12,
      },
      steps: 1_500,
      workload: { callers: 4, mostThinkMicros: 60_000, keys: 60, fresh: 10 },
    }),
    nemeses: () => [betray("omitting source"), moments.restoreWithoutLoss(12)],
  },
} satisfies Family;
