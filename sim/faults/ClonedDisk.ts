/**
 * Two machines that are one peer: a copy of its disk was started elsewhere, and its address leads now to the one and
 * now to the other. Each goes on from its own disk; to the others it is one member that contradicts itself.
 */
import type { Choices, Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { mayForget, RESTORED_AFTER } from "./DeclaredRestore.ts";

const LATEST = 2_000_000;
const MOST_TURNS = 4;

/** The address leads to the machine with this disk from now on; the other one keeps what it has. */
const takeTurns = (world: World, unit: Unit, peer: SimPeer, putBack: () => void, left: number): void => {
  if (world.healed || peer.isDamaged || !mayForget(world, peer)) return;
  const putOtherBack = peer.disk.photograph();
  world.faults.add("cloned disk");
  world.marks.add("a peer came back on an older disk and said nothing");
  world.restores.comeBackOn(peer, putBack, false);
  if (left > 1)
    world.after(unit.spread("the other takes over after", 20_000, RESTORED_AFTER, 1, LATEST), () =>
      takeTurns(world, unit, peer, putOtherBack, left - 1),
    );
};

export const clonedDisk = (choices: Choices): Nemesis => {
  const slot = choices.plan("cloned").between("peer", 1, 1, 3);
  const atFlush = choices.plan("cloned").between("at flush", 1, 1, 60);
  let count = 0;
  return {
    flushed: (world, peer) => {
      if (peer.slot !== slot || !peer.honest || peer.state?.cluster.membership === undefined || ++count !== atFlush)
        return;
      const unit = world.choices.stream("moment").next();
      if (!unit.chance("strikes", 1000)) return;
      const putBack = peer.disk.photograph();
      const turns = unit.between("turns", 1, 1, MOST_TURNS);
      world.after(unit.spread("the clone takes over after", 20_000, RESTORED_AFTER, 1, LATEST), () =>
        takeTurns(world, unit, peer, putBack, turns),
      );
    },
  };
};
