/** A peer's machine comes back on the disk it had a while ago, and its operator says so. */
import type { Stretch, Unit } from "../base/Choices.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { maskOf } from "../checkers/Ghost.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

const LATEST = 2_000_000;
/** Microseconds: mostly soon, so that little was written in between. */
export const RESTORED_AFTER: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [1, 2_000],
  [1, 20_000],
  [1, 200_000],
  [1, LATEST],
];

/** Whether no other member has been restored or lies, so that this one may lose its memory undeclared. */
export const mayForget = ({ ghost }: World, { slot }: SimPeer): boolean =>
  ((ghost.restored | ghost.away | ghost.lying) & ~maskOf(slot)) === 0;

/** The protocol stands any number of declared restores, or one faulty member, perhaps restored (protocol.md 1). */
export const mayBeRestored = ({ ghost, plan }: World, peer: SimPeer): boolean => {
  const own = maskOf(peer.slot);
  return (
    plan.peers > 1 &&
    !peer.isDamaged &&
    !peer.isLost &&
    (peer.honest || peer.isLying || peer.rolledBack) &&
    ((ghost.forgetful | ghost.lying) & ~own) === 0
  );
};

/** An older disk to put back: the one of now, or one of before the founding. */
const olderDisk = (world: World, unit: Unit, peer: SimPeer, isEarly: boolean) => {
  const putBack = isEarly ? world.restores.earlyDisk(peer, unit) : peer.disk.photograph();
  return putBack && { putBack, isEarly: isEarly || !isFounded(peer) };
};

const isFounded = ({ disk }: SimPeer): boolean => disk.holds("topology", SELF);

/** Some peer must know the cluster; otherwise its operators found it again, with the secret. */
const isKnownWithout = (world: World, peer: SimPeer): boolean =>
  world.peers.some((each) => each !== peer && isFounded(each));

export const declaredRestore = (world: World, unit: Unit): void => {
  const peer = anyPeer(world, unit);
  if (peer.state?.cluster.membership === undefined || !mayBeRestored(world, peer)) return;
  const older = olderDisk(world, unit, peer, unit.chance("from before the founding", 150));
  if (older === undefined) return;
  world.after(unit.spread("comes back after", 20_000, RESTORED_AFTER, 1, LATEST), () => {
    if (world.healed || !mayBeRestored(world, peer) || (older.isEarly && !isKnownWithout(world, peer))) return;
    if (older.isEarly) world.marks.add("restored from before the founding");
    if (peer.isLying) world.marks.add("a traitor was restored");
    world.restores.comeBackOn(peer, older.putBack, true);
  });
};

/**
 * All operators declare a restore at about the same time: of a peer that runs on and never needed one, or of one
 * that comes back on its disk of now, or of before the founding.
 */
export const restoreEverywhere = (world: World, unit: Unit): void => {
  const mayHappen = (peer: SimPeer): boolean =>
    peer.state?.cluster.membership !== undefined && mayBeRestored(world, peer);
  if (!world.peers.every(mayHappen)) return;
  for (const peer of world.peers) {
    const { slot } = peer;
    const isKept = unit.chance(`peer ${slot} runs on`, 400);
    const lot = unit.chance(`peer ${slot} from before the founding`, 150);
    const older = olderDisk(world, unit, peer, lot);
    world.after(unit.spread(`peer ${slot} comes back after`, 20_000, RESTORED_AFTER, 1, LATEST), () => {
      if (world.healed || older === undefined || !mayBeRestored(world, peer)) return;
      if (isKept) world.restores.declare(peer);
      else if (!older.isEarly || isKnownWithout(world, peer)) world.restores.comeBackOn(peer, older.putBack, true);
    });
  }
};
