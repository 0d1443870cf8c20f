/** Schedules of keys: they are made, renewed, destroyed and used while processes end, disks go back and members lie. */
import type { WorkloadPlan } from "../base/Plan.ts";
import { endedAndKept } from "../moments/EndedAndKept.ts";
import { betray } from "../faults/Treason.ts";
import { destroyMeanwhile } from "../moments/DestroyedMeanwhile.ts";
import {
  crashAtConsent,
  crashAtPackage,
  crashBeforeActivation,
  crashInRound,
  forgetWhatIsMade,
} from "../moments/KeyMoments.ts";
import { changeUnderSigning, repairWhatIsLost, repairWithOthers, sealMidSession } from "../moments/KeysInUse.ts";
import { moments } from "../moments/Moments.ts";
import { BUSY_FAULTS, CLUSTER, type Family, happens, SLUGGISH, weights } from "./Schedule.ts";
import { smallOnes } from "./SmallCapacities.ts";

/** What callers do where keys are what matters. */
const HOLDERS: Partial<WorkloadPlan> = { keys: 200, fresh: 10, retry: 4, conflict: 4, replace: 4, read: 8, callers: 8 };

const STEPS = 1_500;

/** Messages that overtake each other, so that certificates arrive in the middle of signatures. */
const inUse = {
  steps: STEPS,
  workload: HOLDERS,
  network: { leastDelay: 300, mostDelay: 20_000, loss: 0, duplication: 50 },
};

const busy = { steps: STEPS, workload: HOLDERS };

export const keySchedules = {
  keys: {
    marks: {
      "KEYGEN answered 201": 2,
      "KEYGEN answered 200": 3,
      "SIGN answered Signed": 2,
      "DESTROY answered KeyDestroyed": 4,
      "signatures went on while members were down": 15,
    },
    plan: () => busy,
  },
  "keys-on-a-lossy-network": {
    marks: { "SIGN answered Signed": 3 },
    plan: () => ({ ...busy, network: { leastDelay: 300, mostDelay: 30_000, loss: 40, duplication: 120 } }),
  },
  "keys-and-late-messages": {
    marks: { "SIGN answered Signed": 3 },
    plan: () => ({ ...busy, network: SLUGGISH, workload: { ...HOLDERS, shortTokens: 100 } }),
  },
  // Many sign at once through peers that serve one or two of them at a time.
  "keys-in-line": {
    marks: { "a request to sign waited in line": 6 },
    plan: (choices) => ({
      ...busy,
      capacities: smallOnes(choices, "signaturesAtOnce"),
      network: { leastDelay: 2_000, mostDelay: 20_000, loss: 5, duplication: 40 },
      workload: { ...HOLDERS, callers: 24, mostThinkMicros: 20_000 },
    }),
  },
  "crash-between-consent-and-share": {
    marks: { "crashed with a consent on its disk": 3 },
    plan: () => busy,
    nemeses: () => [crashAtConsent()],
  },
  "coordinator-dies-after-package": {
    share: 50,
    marks: { "a coordinator ended with its packages out": 3 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [crashAtPackage()],
  },
  "keygen-made-twice": {
    share: 50,
    marks: {
      "a writer had a key made twice for one request": 4,
      "a second session was finished between vote and certificate": 4,
    },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [betray("twofold maker"), forgetWhatIsMade()],
  },
  "keygen-crash-each-round": {
    marks: { "ended in the round of Keygen.Stored": 20 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: (choices) => [crashInRound(choices)],
  },
  "writer-lost-before-activation": {
    marks: { "the writer ended with a key that was not certified": 3 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [crashBeforeActivation()],
  },
  "keys-and-crashes": {
    marks: { "SIGN answered Signed": 3 },
    plan: () => ({ ...busy, faults: weights(...BUSY_FAULTS, "seal", "pause"), faultMicros: 400_000 }),
  },
  "restore-after-refresh": {
    marks: {
      "a restored peer is a member again": 4,
      "a share was repaired in the end": 20,
      "restored beside another generation of a number": 15,
    },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: (choices) =>
      happens(choices, "a generation is made anew", 400)
        ? [endedAndKept(true)]
        : [moments.restoreDeclared(choices, { times: 1, fromSlots: 4 })],
  },
  "rollback-after-consent": {
    marks: { "SIGN answered Signed": 4 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: (choices) => [moments.rollBackOne(choices)],
  },
  "traitor-signer-bad-z": {
    marks: { "a signer sent a wrong share": 4, "an imposter was named": 8 },
    sizes: CLUSTER,
    plan: (choices) => ({
      ...busy,
      faults: happens(choices, "other faults", 300) ? weights("crash", "slow link") : new Map(),
    }),
    nemeses: () => [betray("lying signer")],
  },
  // One fewer than sign, where three are members: it knows its own shares and all that is said to it.
  "traitor-holds-t-minus-1": {
    marks: {
      "a signer kept its share to itself": 3,
      "a signer refused every package": 10,
      "SIGN answered Signed": 3,
      "signatures went on beside a member that lies": 6,
    },
    sizes: { quiet: 3, drawn: [3] },
    plan: () => ({ ...busy, faults: new Map() }),
    nemeses: () => [betray("hoarding signer")],
  },
  "coordinator-equivocates": {
    share: 50,
    marks: { "a coordinator lied in a package": 4 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [betray("lying coordinator")],
  },
  "traitor-coordinator-other-message": {
    share: 50,
    marks: {
      "a coordinator opened two sessions under one name": 4,
      "a coordinator named the message of another session": 4,
    },
    sizes: CLUSTER,
    plan: () => ({ ...busy, faults: weights("crash", "seal"), faultMicros: 400_000 }),
    nemeses: () => [betray("confusing coordinator")],
  },
  "keygen-bad-box": {
    share: 50,
    marks: {
      "a member sent a box that holds nothing": 4,
      "a member told a share of no polynomial": 4,
      "a member equivocated in a key generation": 4,
      "a member ended a key generation of others": 4,
      "a writer ended what it had proposed": 15,
    },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [betray("spoiling maker")],
  },
  "keygen-equivocated-package": {
    share: 50,
    marks: { "a member made two keys in one session": 4 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [betray("equivocating maker")],
  },
  "seal-mid-session": {
    marks: { "a signer was sealed with a nonce in memory": 4 },
    plan: () => busy,
    nemeses: () => [sealMidSession()],
  },
  "rotate-under-signing": {
    marks: { "a session was open when its key was changed": 6 },
    sizes: CLUSTER,
    plan: () => inUse,
    nemeses: () => [changeUnderSigning("rotate")],
  },
  "refresh-under-signing": {
    marks: { "a session was open when its key was changed": 6 },
    sizes: CLUSTER,
    plan: () => inUse,
    nemeses: () => [changeUnderSigning("refresh")],
  },
  "destroy-under-signing": {
    share: 50,
    marks: { "a session was open when its key was changed": 4 },
    sizes: CLUSTER,
    plan: () => inUse,
    nemeses: () => [changeUnderSigning("destroy")],
  },
  // Whatever members make of a key while somebody has it destroyed goes with it.
  "destroy-under-repair-and-refresh": {
    share: 50,
    marks: {
      "a key was destroyed while a share of it was repaired": 8,
      "a key was destroyed while new shares of it were made": 4,
      "shares were stored of a key whose end was asked for": 12,
    },
    sizes: CLUSTER,
    plan: () => ({ ...inUse, steps: 2_000 }),
    nemeses: (choices) => [moments.restoreDeclared(choices, { times: 1, fromSlots: 8 }), destroyMeanwhile()],
  },
  "repair-with-traitor-helper": {
    share: 50,
    marks: { "a repair was asked for": 6, "a helper told something else in a repair": 30 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: (choices) => [
      moments.restoreDeclared(choices, { times: 1, fromSlots: 4 }),
      betray("lying helper"),
      repairWhatIsLost(),
    ],
  },
  // Repairs fail by liars and by peers that end: each is asked for again, of others.
  "repair-retry-other-helpers": {
    share: 50,
    marks: { "a repair was asked for": 16, "other helpers were asked for the same share": 24 },
    sizes: { quiet: 5, drawn: [5] },
    plan: () => ({ ...busy, faults: weights("crash"), faultMicros: 400_000 }),
    nemeses: (choices) => [
      moments.restoreDeclared(choices, { times: 1, fromSlots: 4 }),
      betray("lying helper"),
      repairWithOthers(),
    ],
  },
  "loose-tongue-of-keys": {
    marks: { "a member said what its driver had not": 3 },
    sizes: CLUSTER,
    plan: () => busy,
    nemeses: () => [betray("loose tongue")],
  },
} satisfies Family;
