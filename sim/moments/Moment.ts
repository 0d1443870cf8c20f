/** One moment of the protocol at which a fault strikes: a unit, whose quiet value is that nothing strikes there. */
import type { Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

export const SECOND = 1_000_000;

export const isWriter = ({ state }: SimPeer): boolean =>
  state?.cluster.membership !== undefined && state.cluster.membership.writer === state.cluster.peer?.peerId;

export const isolate = (world: World, slot: number, micros: number): void => {
  const links = world.network.links((from, to) => from === slot || to === slot);
  for (const link of links) link.cut = true;
  world.after(micros, () => {
    for (const link of links) link.cut = false;
  });
};

/** The unit, where a fault strikes at this moment. */
export const struck = (world: World, unit: Unit, fault: string, isDue = true): Unit | undefined => {
  if (!unit.chance("strikes", isDue ? 1000 : 0)) return undefined;
  world.faults.add(fault);
  return unit;
};

/** Runs its body at most once in a while, so that the world gets somewhere in between. */
export const rarely = (everyMicros: number): ((world: World, run: (unit: Unit) => void) => void) => {
  let next = 0;
  return (world, run) => {
    if (world.now < next) return;
    next = world.now + everyMicros;
    const unit = struck(world, world.choices.stream("moment").next(), "moment");
    if (unit !== undefined) run(unit);
  };
};

export const forSomeSeconds = (unit: Unit): number => unit.between("for seconds", 1, 1, 5) * SECOND;
