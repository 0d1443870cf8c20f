/**
 * The end of every run: all faults stop, all peers come back, and then what must
 * come about has to come about within a bounded time.
 */
import type { Command } from "./Commands.ts";
import { CALM_NETWORK } from "./Plan.ts";
import { type Unrest, unrestOf } from "./Rest.ts";
import type { SimPeer } from "./SimPeer.ts";
import { Violation } from "./Violation.ts";
import type { Outcome, Workload } from "./Workload.ts";
import type { World } from "./World.ts";

const SECOND = 1_000_000;
/** Twelve rounds: the slowest timer of the protocol fires every 5 s. */
const PATIENCE = 60 * SECOND;
const SKEW_MILLIS = 2_000;

/** Stops every fault and brings every peer back. */
export const heal = (world: World): void => {
  world.stopFaults();
  world.network.heal(CALM_NETWORK);
  for (const peer of world.peers) {
    const needsRestart = peer.isDamaged || Math.abs(peer.clock.offsetMillis) > SKEW_MILLIS || peer.hadClockStep;
    if (needsRestart) {
      world.crash(peer, "process", false);
      peer.clock.offsetMillis = 0;
      peer.clock.driftPerMillion = 0;
      peer.hadClockStep = false;
      peer.disk.repair();
      peer.isDamaged = false;
    }
    world.start(peer);
    world.after(10_000, () => world.unseal(peer));
    world.after(SECOND, () => world.unseal(peer));
  }
};

const unrest = (world: World): Unrest | undefined => unrestOf(world.ghost, world.peers);

const settle = (world: World): void => {
  const until = world.now + PATIENCE;
  let found = unrest(world);
  while (found !== undefined && world.now < until) {
    world.run(world.now + SECOND / 4);
    found = unrest(world);
  }
  if (found !== undefined) throw new Violation(...found);
};

/** Sends one registration and lets the world run until something came of it. */
const attempt = (world: World, workload: Workload, peer: SimPeer, command: Command): Outcome => {
  const outcomes: Array<Outcome> = [];
  workload.register(peer, command, (outcome) => outcomes.push(outcome));
  // The workload itself gives up after a while, so something always comes.
  for (;;) {
    const [outcome] = outcomes;
    if (outcome !== undefined) return outcome;
    world.run(world.now + SECOND / 20);
  }
};

/** Sends one registration until it succeeds; answers that allow a repetition are repeated. */
const insist = (world: World, workload: Workload, peer: SimPeer, command: Command): Outcome => {
  const until = world.now + PATIENCE;
  let last: Outcome = "silence";
  while (world.now < until) {
    last = attempt(world, workload, peer, command);
    if (typeof last !== "string" && last._tag === "Registered") return last;
    world.run(world.now + SECOND);
  }
  return last;
};

const nameOf = (outcome: Outcome): string =>
  typeof outcome === "string"
    ? outcome
    : outcome._tag === "Rejected"
      ? `${outcome.rejection.code} (${outcome.rejection.detail})`
      : outcome._tag;

/** A fresh registration succeeds through every peer, and an identical retry through another gives 200. */
const assertProgress = (world: World, workload: Workload): void => {
  for (const peer of world.peers) {
    const command = workload.freshCommand();
    const created = insist(world, workload, peer, command);
    if (typeof created === "string" || created._tag !== "Registered")
      throw new Violation(
        "L4",
        "everything was healed",
        `a fresh registration through peer ${peer.slot} gave ${nameOf(created)}`,
      );
    const other = world.peer((peer.slot % world.plan.peers) + 1);
    const again = insist(world, workload, other, command);
    if (typeof again === "string" || again._tag !== "Registered" || again.created)
      throw new Violation(
        "L4",
        `a registration succeeded through peer ${peer.slot}`,
        `its retry through peer ${other.slot} gave ${nameOf(again)}`,
      );
    if (world.read(other, again.approver.ref) === undefined)
      throw new Violation(
        "L4",
        `a registration succeeded through peer ${peer.slot}`,
        `peer ${other.slot} does not show it`,
      );
  }
};

/** Heals the world and holds it to its promises (L1 to L5). */
export const assertLiveness = (world: World, workload: Workload): void => {
  workload.stop();
  heal(world);
  const odd = world.peers.filter((peer) => !peer.honest);
  if (odd.some((peer) => !peer.rolledBack)) return assertRefusedByName(world);
  if (odd.length > 0 && isFoundOut(world)) return assertStandsStill(world, workload);
  settle(world);
  for (const facts of world.ghost.proposals.values()) if (facts.aborted !== 0) world.marks.add("settled by an abort");
  assertProgress(world, workload);
  settle(world);
  world.sweep();
};

/** Whether a peer on an old disk learns it from the others; what it lost may also be known to nobody. */
const isFoundOut = (world: World): boolean => {
  world.run(world.now + 5 * SECOND);
  const isOut = world.peers.some(({ state }) => state?.quarantine !== undefined);
  world.marks.add(isOut ? "rolled back: found out" : "rolled back: nothing missed");
  return isOut;
};

/** While a member is in quarantine no change goes on, whoever is asked, and somebody names that member. */
const assertStandsStill = (world: World, workload: Workload): void => {
  for (const peer of world.peers) {
    const outcome = attempt(world, workload, peer, workload.freshCommand());
    if (typeof outcome !== "string" && outcome._tag === "Registered")
      throw new Violation(
        "S22",
        "a member ran from an old disk and is in quarantine",
        `a registration through peer ${peer.slot} succeeded`,
      );
    const isNamed = typeof outcome !== "string" && outcome._tag === "Rejected" && outcome.rejection.members.length > 0;
    if (!isNamed)
      throw new Violation(
        "L5",
        "a member ran from an old disk and is in quarantine",
        `a registration through peer ${peer.slot} gave ${nameOf(outcome)} and names nobody`,
      );
  }
  world.sweep();
};

/** A wiped peer, or one with another's id, is refused by name by somebody; mutations do not go on without it. */
const assertRefusedByName = (world: World): void => {
  world.run(world.now + 10 * SECOND);
  const named = world.peers.some((peer) => {
    const { state } = peer;
    return state !== undefined && state.founding.faults.size > 0;
  });
  // A peer that was wiped before anybody knew it is a peer like any other.
  const isWhole = world.peers.every((peer) => peer.state?.membership !== undefined);
  if (!named && !isWhole)
    throw new Violation(
      "L5",
      "a peer was wiped, or was given an id that another has",
      "no peer names it as the reason why the cluster is not whole",
    );
  world.sweep();
};
