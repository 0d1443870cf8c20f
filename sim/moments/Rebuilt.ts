/**
 * A target's machine is lost once it has accepted or installed, and comes back empty under the same id: with the same
 * keys, which its operators have kept, or with others, and then it is a stranger.
 */
import type { Choices } from "../base/Choices.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { maskOf } from "../checkers/Ghost.ts";
import { mayForget } from "../faults/DeclaredRestore.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { SECOND, struck } from "./Moment.ts";

const LATEST = 2 * SECOND;

const rebuild = (world: World, peer: SimPeer, keepsKeys: boolean): void => {
  if (world.healed || peer.isDamaged || !mayForget(world, peer)) return;
  const isInstalled = peer.disk.holds("topology", SELF);
  world.marks.add(`a target that had ${isInstalled ? "installed" : "accepted"} came back empty`);
  if (keepsKeys) return world.restores.comeBackOn(peer, () => peer.disk.wipe(), false);
  world.marks.add("a target came back as a stranger");
  world.processes.crash(peer, "power", false);
  peer.wipe();
  // Whatever it was recovering is not on its way any more.
  world.ghost.recovering &= ~maskOf(peer.slot);
  world.processes.start(peer);
};

export const rebuiltTarget = (choices: Choices): Nemesis => {
  const plan = choices.plan("rebuilt target");
  const atFlush = plan.oneOf("at flush", 1, [1, 1, 1, 2, 3, 4, 6, 10, 30]);
  const keepsKeys = plan.chance("its keys were kept", 700);
  const counts = new Map<number, number>();
  let isOver = false;
  return {
    flushed: (world, peer) => {
      if (isOver || !peer.disk.holds("transfer", SELF)) return;
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      const unit = struck(world, world.choices.stream("moment").next(), "empty machine", count === atFlush);
      if (unit === undefined) return;
      isOver = true;
      world.after(
        unit.spread(
          "comes back after",
          20_000,
          [
            [3, 2_000],
            [1, 200_000],
            [1, LATEST],
          ],
          1,
          LATEST,
        ),
        () => rebuild(world, peer, keepsKeys),
      );
    },
  };
};
