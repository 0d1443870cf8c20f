/** L6: a pinned promotion is retried until it is done, once nothing is in its way any more. */
import { nameOf } from "../checkers/S27.ts";
import { standingText } from "./Absence.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { Violation } from "../base/Violation.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
/** Twelve rounds: the slowest timer of the protocol fires every 5 s. */
const PATIENCE = 60 * SECOND;

const waitsText = (world: World): string =>
  world.peers
    .map((peer) => {
      const { own, bound, accepted, installed, refused } = peer.state?.cluster.promotion ?? {};
      const stage = own?.stage ?? (bound === undefined ? "not bound" : "bound");
      const counts = `${accepted?.size ?? 0} accepted, ${refused?.size ?? 0} refused, ${installed?.size ?? 0} installed`;
      const { waitsFor } = peer.state?.rejoining.recovery ?? {};
      return `${standingText(world.ghost, peer)}, ${stage} (${counts})${waitsFor === undefined ? "" : `, ${waitsFor}`}`;
    })
    .join("; ");

/** Whether the source is done; where it may be lying, whether every other peer is a member of its epoch too. */
const isDone = ({ promoters, ghost, peers, plan }: World): boolean => {
  const { promotion } = plan;
  if (!promoters.isDone || promotion === undefined || ghost.lying === 0) return promoters.isDone;
  const epochs = peers.map(({ state }) => state?.cluster.membership?.digest);
  return epochs.every((digest) => digest !== undefined && digest === epochs[0]);
};

/** Whether somebody has lied about a draft, so that not every target is bound to what the source has pinned. */
const isMisled = ({ ghost, peers, plan: { promotion } }: World): boolean => {
  if (ghost.lying === 0) return false;
  const drafts = peers.flatMap(({ disk }) => (disk.get("promotion", SELF) ?? disk.get("transfer", SELF))?.draft ?? []);
  const isOne = new Set(drafts.map(nameOf)).size < 2;
  return !isOne || (promotion !== undefined && ghost.isLying(promotion.source));
};

/** @returns whether there is a whole cluster now; without one, a liar is to blame */
export const assertPromoted = (world: World): boolean => {
  const until = world.now + PATIENCE;
  while (!isDone(world) && world.now < until) world.run(world.now + SECOND / 4);
  if (isDone(world)) return true;
  if (!isMisled(world))
    throw new Violation(
      "L6",
      "everything was healed, and operators ask for the promotion again and again",
      `it is not done: ${waitsText(world)}`,
    );
  world.marks.add("a liar kept a promotion from its end");
  return false;
};
