/** Schedules of an instance that becomes a cluster while callers work. */
import { absurd } from "effect";
import type { Choices } from "../base/Choices.ts";
import type { PromotionOf } from "../base/Plan.ts";
import { betray } from "../faults/Treason.ts";
import { crashBeforeErasure } from "../moments/KeyMoments.ts";
import { oldEpoch } from "../moments/OldEpoch.ts";
import { crashWhilePromoting, deafTarget } from "../moments/Promoting.ts";
import { promotedBack } from "../moments/PromotedBack.ts";
import { rebuiltTarget } from "../moments/Rebuilt.ts";
import type { Nemesis } from "../world/World.ts";
import { among, BUSY_FAULTS, type Family, happens, type Sizes, weights } from "./Schedule.ts";

/** A source and its targets. */
const PROMOTED: Sizes = { quiet: 3, drawn: [2, 3, 3, 4] };
const SECOND = 1_000_000;
/** All together have five usual shares, so that what else a seed draws does not move. */
const SHARE = 44;
const SHARE_OF_OLD_DISKS = 32;
const SHARE_OF_OTHERS = 46;

const promotionOf = (choices: Choices, source: number): PromotionOf => ({
  source,
  afterMicros: among(choices, "promoted after", SECOND, SECOND / 5, SECOND, 3 * SECOND),
  hasRivals: happens(choices, "rivals", 300),
});

/** Any peer may be the one that holds the registry; mostly another one is the writer afterwards. */
export const anySource = (choices: Choices): PromotionOf =>
  promotionOf(choices, choices.plan("source").oneOf("slot", 2, [1, 2, 2, 3, 4]));

const ways = [
  "a crash",
  "a deaf target",
  "old messages",
  "a lying source",
  "a lying target",
  "an empty machine",
] as const;

/** What happens to a promotion in the middle of other faults. */
export const anyOfPromotion = (choices: Choices): ReadonlyArray<Nemesis> => {
  if (!happens(choices, "at a promotion", 600)) return [];
  const way = choices.plan("of a promotion").named("which", "a crash", ways, [3, 1, 1, 1, 1, 1]);
  switch (way) {
    case "a crash":
      return [crashWhilePromoting(choices)];
    case "a deaf target":
      return [deafTarget(choices)];
    case "old messages":
      return [oldEpoch(choices)];
    case "a lying source":
      return [betray("lying source")];
    case "a lying target":
      return [betray("lying target")];
    case "an empty machine":
      return [rebuiltTarget(choices)];
    default:
      return absurd(way);
  }
};

const WORK = { fresh: 40, replace: 20, invite: 6, finish: 20, read: 20 };

export const promotionSchedules = {
  "promote-under-load": {
    marks: { "promoted while callers worked": 2 },
    share: SHARE,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 1_500, promotion: anySource(choices), workload: WORK }),
  },
  "promote-with-keys": {
    marks: {
      "a key was shared after the promotion": 25,
      "ended between sharing a key and erasing it": 14,
      "keys were in the way of a promotion": 22,
    },
    sizes: PROMOTED,
    plan: (choices) => ({
      steps: 1_500,
      promotion: anySource(choices),
      workload: { ...WORK, keys: 120 },
    }),
    nemeses: () => [crashBeforeErasure()],
  },
  "promote-new-lowest-writer": {
    marks: { "a promotion was asked for": 2 },
    share: SHARE,
    sizes: PROMOTED,
    plan: (choices) => ({
      steps: 1_500,
      promotion: promotionOf(choices, 4),
      faults: weights("lossy link", "slow link", "crash"),
      workload: WORK,
    }),
  },
  "promote-crash-each-step": {
    marks: { "crashed at a step of a promotion": 2 },
    share: SHARE,
    sizes: PROMOTED,
    plan: (choices) => ({
      steps: 2_000,
      promotion: anySource(choices),
      faults: weights(...BUSY_FAULTS, "lossy link"),
      workload: WORK,
    }),
    nemeses: (choices) => [crashWhilePromoting(choices)],
  },
  "promote-deaf-target": {
    marks: { "promoted while callers worked": 4 },
    share: SHARE,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: (choices) => [deafTarget(choices)],
  },
  "promote-on-a-bad-network": {
    marks: { "a promotion was asked for": 2 },
    share: SHARE,
    sizes: PROMOTED,
    plan: (choices) => ({
      steps: 2_000,
      promotion: anySource(choices),
      faultsWhileFounding: true,
      faults: weights("lossy network", "reordering network", "replayed message", "one-way cut", "crash", "seal"),
      workload: WORK,
    }),
  },
  "promote-lying-source": {
    marks: {
      "a lying source: another draft": 3,
      "a lying source: decided what its driver had not pinned": 60,
      "a lying source: another registry": 18,
      "a lying source: claimed an end": 12,
    },
    share: SHARE_OF_OTHERS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: () => [betray("lying source")],
  },
  "promote-lying-target": {
    marks: {
      "a lying target: installed early": 4,
      "a lying target: accepted with both": 12,
      "a lying target: bound to another draft": 60,
    },
    share: SHARE_OF_OTHERS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: () => [betray("lying target")],
  },
  "promote-old-messages": {
    marks: { "a message of before the promotion came again": 3, "a stranger offered a promotion": 3 },
    share: SHARE_OF_OTHERS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: (choices) => [oldEpoch(choices)],
  },
  "promote-rebuilt-target": {
    marks: {
      "a target that had accepted came back empty": 10,
      "a target that had installed came back empty": 9,
      "a target came back as a stranger": 25,
    },
    share: SHARE_OF_OTHERS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: (choices) => [rebuiltTarget(choices)],
  },
  "promote-rollback-source": {
    marks: {
      "a source came back from before a step of its promotion": 10,
      "a source forgot what it had pinned or decided": 20,
      "a target was rebuilt": 60,
    },
    share: SHARE_OF_OLD_DISKS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: (choices) => [promotedBack(choices, "source", false)],
  },
  "promote-rollback-target": {
    marks: { "a target came back from before a step of the promotion": 4 },
    share: SHARE_OF_OLD_DISKS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: (choices) => [promotedBack(choices, "target", false)],
  },
  "promote-declared-restore": {
    marks: {
      "a source came back from before a step of its promotion": 20,
      "a target came back from before a step of the promotion": 12,
    },
    share: SHARE_OF_OLD_DISKS,
    sizes: PROMOTED,
    plan: (choices) => ({ steps: 2_000, promotion: anySource(choices), workload: WORK }),
    nemeses: (choices) => [promotedBack(choices, happens(choices, "of a target", 400) ? "target" : "source", true)],
  },
} satisfies Family;
