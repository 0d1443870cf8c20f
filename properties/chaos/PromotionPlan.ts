/** How each peer of a promotion ends at each of its steps: drawn from the seed alone. */
import type { TableName } from "../../core/Tables.ts";
import { SOURCE } from "../../server/dev/ClusterFile.ts";
import { Chance } from "./Chance.ts";
import type { StepOrder } from "./PeerUnderTest.ts";
import type { PlannedFault } from "./Plan.ts";

/** The numbers of the draws, beside that of the peer. */
const STEPS = 5_000;
const LINKS = 5_100;

/** By the table that changes: it pins, decides, and is done. */
const atSource: ReadonlyArray<TableName> = ["promotion", "promotion", "promotion"];
/** It accepts, belongs to the cluster and begins to take the registry, takes a page, and has all of it. */
const atTarget: ReadonlyArray<TableName> = ["transfer", "topology", "approvers", "restore"];

/**
 * The ends of one peer, in order: at each step one with nothing kept, killed or with a flush that fails, and then one
 * with all kept, so that the next step follows.
 */
export const drawSteps = (seed: number, slot: number): ReadonlyArray<StepOrder> => {
  const random = new Chance(seed, STEPS + slot);
  return (slot === SOURCE ? atSource : atTarget).flatMap(
    (table): ReadonlyArray<StepOrder> => [
      { table, how: random.pick(["before", "before", "lost", "full"] as const) },
      { table, how: random.pick(["after", "after", "kept"] as const) },
    ],
  );
};

/** One line for the ends of a peer. */
export const stepsLine = (seed: number, slot: number): string =>
  `  peer ${slot} ends at ${drawSteps(seed, slot)
    .map(({ table, how }) => `${table} (${how})`)
    .join(", ")}`;

const links = ["cut", "cut-one-way", "isolate", "delay", "swallow", "flaky"] as const;
const LAST_MILLIS = [300, 2_500] as const;
const GAP_MILLIS = [1_500, 4_000] as const;
const MOST_DELAY_MILLIS = 400;
const MOST_FLAKY_PER_MILLE = 60;

/** What happens to the links meanwhile, for so long. */
export const drawLinks = (seed: number, peers: number, millis: number): ReadonlyArray<PlannedFault> => {
  const random = new Chance(seed, LINKS + peers);
  const plan: Array<PlannedFault> = [];
  for (let at = 0; at < millis; at += random.between(...GAP_MILLIS)) {
    const kind = random.pick(links);
    const slot = 1 + random.below(peers);
    const other = 1 + ((slot - 1 + random.between(1, peers - 1)) % peers);
    const lastsMillis = random.between(...LAST_MILLIS);
    const amount =
      kind === "delay"
        ? random.between(20, MOST_DELAY_MILLIS)
        : kind === "flaky"
          ? random.between(5, MOST_FLAKY_PER_MILLE)
          : 0;
    plan.push({ at, isHurried: true, kind, slot, other, lastsMillis, amount });
  }
  return plan;
};
