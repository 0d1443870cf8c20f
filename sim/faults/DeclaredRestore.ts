/** A peer's machine comes back on the disk it had a while ago, and its operator says so. */
import type { Stretch, Unit } from "../Choices.ts";
import { maskOf } from "../Ghost.ts";
import type { SimPeer } from "../SimPeer.ts";
import type { World } from "../World.ts";
import { anyPeer } from "./Victims.ts";

const LATEST = 2_000_000;
/** Microseconds: mostly soon, so that little was written in between. */
export const RESTORED_AFTER: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [1, 2_000],
  [1, 20_000],
  [1, 200_000],
  [1, LATEST],
];

/** Whether no other member than this one has been restored or lies, so that this one may lose its memory unsaid. */
export const mayForget = ({ ghost }: World, { slot }: SimPeer): boolean =>
  ((ghost.restored | ghost.away | ghost.lying) & ~maskOf(slot)) === 0;

/**
 * What the protocol stands (protocol.md 1): any number of declared restores that leave one member never restored, or
 * one faulty member, which may be restored itself.
 */
const mayBeRestored = ({ ghost, plan }: World, peer: SimPeer): boolean => {
  const own = maskOf(peer.slot);
  return (
    plan.peers > 1 &&
    !peer.isDamaged &&
    !peer.isLost &&
    (peer.honest || peer.isLying || peer.rolledBack) &&
    ((ghost.forgetful | ghost.lying) & ~own) === 0 &&
    (ghost.restored | ghost.away | own) !== ghost.everyone
  );
};

export const declaredRestore = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.state?.membership === undefined || !mayBeRestored(world, peer)) return;
  const isEarly = unit.chance("from before the founding", 150);
  const putBack = isEarly ? world.restores.earlyDisk(peer, unit) : peer.disk.photograph();
  if (putBack === undefined) return;
  world.after(unit.spread("comes back after", 20_000, RESTORED_AFTER, 1, LATEST), () => {
    if (world.healed || !mayBeRestored(world, peer)) return;
    if (isEarly) world.marks.add("restored from before the founding");
    if (peer.isLying) world.marks.add("a traitor was restored");
    world.restores.comeBackOn(peer, putBack, true);
  });
};
