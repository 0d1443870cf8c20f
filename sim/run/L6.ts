/** L6: a pinned promotion is retried until it is done, once nothing is in its way any more. */
import { standingText } from "./Absence.ts";
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

export const assertPromoted = (world: World): void => {
  if (world.promoters.isDone) return;
  const until = world.now + PATIENCE;
  while (!world.promoters.isDone && world.now < until) world.run(world.now + SECOND / 4);
  if (!world.promoters.isDone)
    throw new Violation(
      "L6",
      "everything was healed, and operators ask for the promotion again and again",
      `it is not done: ${waitsText(world)}`,
    );
};
