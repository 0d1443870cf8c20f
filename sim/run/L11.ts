/**
 * L11: a restored peer and one other member, alone, are enough to read. Asked before anything is healed, where a run
 * ends in the middle of a restore; in some runs one begins as they end.
 */
import { modeOf } from "../../core/protocol/Mode.ts";
import { standingText } from "./Absence.ts";
import { type Ghost, maskOf } from "../checkers/Ghost.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import { votesOn } from "../checkers/Votes.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
const PATIENCE = 60 * SECOND;
/** How many seeds in a thousand. */
const RESTORED_IN_THE_END = 150;

/** A peer declared to be restored is on the way back. All is demanded of it; a traitor may be found out again. */
export const isBack = (world: World, { toDeclare, slot }: SimPeer): boolean =>
  toDeclare || world.ghost.isRecovering(slot);

/** Whether it has all that a restored peer can ask of one member. */
const mayHelp = (world: World, peer: SimPeer): boolean => {
  const { state } = peer;
  return (
    state !== undefined &&
    peer.honest &&
    !peer.isDamaged &&
    !peer.isSealing &&
    modeOf(state) === "active" &&
    state.undecided.preparations.size === 0 &&
    (world.ghost.forgetful & maskOf(peer.slot)) === 0
  );
};

/** Votes on the newest proposal that a peer has applied: with it the registry begins that it can show. */
const lastVotes = (ghost: Ghost, { slot }: SimPeer): string => {
  const last = [...ghost.proposals.values()].findLast(({ applied }) => (applied & maskOf(slot)) !== 0);
  return last === undefined ? "" : `; proposal ${last.id}, the newest there: ${votesOn(ghost, last.id)}`;
};

/** An operator declares a restore of a member like any other. */
const declareOne = (world: World): void => {
  const unit = world.choices.stream("restored in the end").next();
  const peer = world.peer(unit.between("peer", 1, 1, world.plan.peers));
  if (!unit.chance("an operator declares a restore", RESTORED_IN_THE_END)) return;
  if (world.ghost.away !== 0 || world.ghost.forgetful !== 0 || world.plan.promotion !== undefined) return;
  if (mayHelp(world, peer)) world.restores.declare(peer);
};

/** @param calm stops every fault; @param bringBack brings these peers back */
export const assertReadable = (
  world: World,
  calm: (world: World) => void,
  bringBack: (world: World, peers: ReadonlyArray<SimPeer>) => void,
): void => {
  if (world.ghost.lying === 0 && world.plan.peers > 2) declareOne(world);
  const restored = world.peers.find((peer) => isBack(world, peer) && !peer.isLost && !peer.isLying);
  const helper = world.peers.find((peer) => mayHelp(world, peer));
  // With a member that lies, no member can be taken at its word.
  if (restored === undefined || helper === undefined || world.plan.peers < 3 || world.ghost.lying !== 0) return;
  calm(world);
  for (const peer of world.peers)
    if (peer !== restored && peer !== helper) world.processes.crash(peer, "process", false);
  bringBack(world, [restored]);
  const until = world.now + PATIENCE;
  // Until it has begun its restore it shows what is on its disk.
  const isReadable = (): boolean =>
    !restored.toDeclare &&
    restored.state !== undefined &&
    restored.state.rejoining.recovery?.isReadable !== false &&
    restored.state.fitness.unsealed;
  while (!isReadable() && world.now < until) world.run(world.now + SECOND / 4);
  world.marks.add("everybody but two was away from a restore");
  // It may have learned what it cannot settle without the others.
  if (!isReadable() && mayHelp(world, helper))
    throw new Violation(
      "L11",
      `peer ${restored.slot} was restored, and one member that was not, with the registry and nothing undecided, is enough to read: ${standingText(world.ghost, helper)}`,
      `peer ${restored.slot} serves no reads while the others are away: ${restored.state?.rejoining.recovery?.waitsFor ?? "it is not unsealed"} (${standingText(world.ghost, restored)}${lastVotes(world.ghost, helper)})`,
    );
};
