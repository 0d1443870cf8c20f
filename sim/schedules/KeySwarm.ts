/**
 * A swarm whose callers use keys: every fault of the other one while keys are made, renewed, destroyed and used, disks
 * put back in many runs, and operators who have repaired what went with them.
 */
import type { Choices } from "../base/Choices.ts";
import { betray, type TreasonName } from "../faults/Treason.ts";
import { destroyMeanwhile } from "../moments/DestroyedMeanwhile.ts";
import { crashAtConsent, crashAtPackage, crashBeforeActivation, crashInRound } from "../moments/KeyMoments.ts";
import { changeUnderSigning, repairWithOthers, sealMidSession } from "../moments/KeysInUse.ts";
import { moments } from "../moments/Moments.ts";
import type { Nemesis } from "../world/World.ts";
import { among, CLUSTER, type Draft, happens, type Schedule } from "./Schedule.ts";
import { anyFaulty, planOfAll } from "./Swarm.ts";

/** Long enough for keys to be made that the older disk lacks, and for their repair. */
const isRestoring = (choices: Choices): boolean => happens(choices, "a disk is put back", 550);

const plan = (choices: Choices): Draft => {
  const draft = planOfAll(choices);
  const isCalm = isRestoring(choices) && happens(choices, "nothing else goes wrong", 500);
  return {
    ...draft,
    ...(isCalm ? { faults: new Map() } : {}),
    steps: isRestoring(choices) ? 2_000 : among(choices, "steps with keys", 1_000, 500, 1_000, 1_000),
    workload: {
      ...draft.workload,
      callers: among(choices, "callers with keys", 4, 4, 8, 8, 24),
      fresh: 10,
      keys: among(choices, "keys", 200, 100, 200, 400),
    },
  };
};

/** Those that lie about keys alone. */
const liars = [
  "lying signer",
  "hoarding signer",
  "lying coordinator",
  "confusing coordinator",
  "spoiling maker",
  "equivocating maker",
] as const satisfies ReadonlyArray<TreasonName>;

const anyLiar = (choices: Choices): Nemesis =>
  betray(
    choices.plan("liar about keys").named(
      "kind",
      "lying signer",
      liars,
      liars.map(() => 1),
    ),
  );

const keyMoments = {
  "crash at a consent": () => crashAtConsent(),
  "crash at a package": () => crashAtPackage(),
  "crash in a round": crashInRound,
  "crash before activation": () => crashBeforeActivation(),
  "seal in a session": () => sealMidSession(),
  "rotate under signing": () => changeUnderSigning("rotate"),
  "refresh under signing": () => changeUnderSigning("refresh"),
  "destroy under signing": () => changeUnderSigning("destroy"),
} as const;

const anyMoment = (choices: Choices): Nemesis => {
  const names = Object.keys(keyMoments) as ReadonlyArray<keyof typeof keyMoments>;
  const unit = choices.plan("moment of keys");
  return keyMoments[
    unit.named(
      "which",
      "crash at a consent",
      names,
      names.map(() => 1),
    )
  ](choices);
};

/** A disk is put back, and what it lacks is repaired; somebody may lie to the one that asks. */
const restored = (choices: Choices): ReadonlyArray<Nemesis> => [
  moments.restoreDeclared(choices, { times: 1, fromSlots: among(choices, "restored from slot", 8, 4, 8) }),
  ...(happens(choices, "a lying helper", 200) ? [betray("lying helper")] : []),
  happens(choices, "keys end meanwhile", 300) ? destroyMeanwhile() : repairWithOthers(),
];

/** At most one member is faulty, beside one that is restored. */
const nemeses = (choices: Choices): ReadonlyArray<Nemesis> => [
  ...(happens(choices, "an older version", 40) ? [moments.olderVersion(choices, [1, 20])] : []),
  ...(happens(choices, "a moment of keys", 350) ? [anyMoment(choices)] : []),
  ...(isRestoring(choices)
    ? restored(choices)
    : happens(choices, "a liar about keys", 200)
      ? [anyLiar(choices)]
      : anyFaulty(choices)),
];

export const keySwarm: Schedule = {
  share: 2_000,
  marks: {
    "KEYGEN answered 201": 3,
    "SIGN answered Signed": 3,
    "a restored peer is a member again": 10,
    "a repair was asked for": 30,
  },
  sizes: CLUSTER,
  plan,
  nemeses,
};
