/**
 * The end of every run: all faults stop, all peers come back, and then what must
 * come about has to come about within a bounded time.
 */
import { assertEnrollable } from "./Enrollable.ts";
import { assertSurvivorsApply } from "./L7.ts";
import { assertSigningSurvives } from "./LK2.ts";
import { assertAnsweredBehindExpired } from "./L9.ts";
import { assertReadable, isBack } from "./L11.ts";
import { attempt, attemptAtOnce } from "./L12.ts";
import type { Command } from "../requests/Commands.ts";
import type { Asked } from "../requests/Asked.ts";
import { maskOf, slotsOf } from "../checkers/Ghost.ts";
import { CALM_NETWORK } from "../base/Plan.ts";
import { assertListable } from "./Listable.ts";
import { standingText, type Unrest } from "./Absence.ts";
import { assertOperable, assertTidy } from "./Operable.ts";
import { keyUnrestOf } from "./KeysAtRest.ts";
import { assertKeysUsable } from "./KeysUsable.ts";
import { assertPromoted } from "./L6.ts";
import { unrestOf } from "./Rest.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import { votesOn } from "../checkers/Votes.ts";
import { type Outcome, outcomeText } from "../requests/Outcome.ts";
import type { Workload } from "../callers/Workload.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
/** Twelve rounds: the slowest timer of the protocol fires every 5 s. */
const PATIENCE = 60 * SECOND;
/** How many seeds in a thousand enroll a passkey in the end. */
const ENROLLING = 150;
/** The same of keys, where callers have used some and where not. */
const USING_KEYS = 400;
const SELDOM_USING_KEYS = 30;
/** The slowest timer fires twice: by then a faulty member has been asked about what it did. */
const FOUND_OUT = 12 * SECOND;

/** A traitor that has repented asks the others what they have seen of it, as after any start. */
const needsRestart = (peer: SimPeer): boolean => peer.isDamaged || peer.isLying;

/** Stops every fault. */
const calm = (world: World): void => {
  world.stopFaults();
  world.network.heal(CALM_NETWORK);
};

/** Brings peers back. */
const bringBack = (world: World, peers: ReadonlyArray<SimPeer>): void => {
  for (const peer of peers) {
    if (peer.isLost) continue;
    world.clocks.setRight(peer);
    if (needsRestart(peer) || peer.lacksIndex) {
      world.processes.crash(peer, "process", false);
      peer.disk.repair();
      peer.isDamaged = false;
      peer.lacksIndex = false;
    }
    world.processes.start(peer);
    world.after(10_000, () => world.operators.unseal(peer));
    world.after(SECOND, () => world.operators.unseal(peer));
  }
};

/** Stops every fault and brings every peer back. */
export const heal = (world: World): void => {
  calm(world);
  bringBack(world, world.peers);
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
  // What a member was not told the end of it keeps for a minute.
  const longer = until + PATIENCE;
  let left = keyUnrestOf(world.ghost, world.peers);
  while (left !== undefined && world.now < longer) {
    world.run(world.now + SECOND);
    left = keyUnrestOf(world.ghost, world.peers);
  }
  if (left !== undefined) throw new Violation(...left);
};

/** Sends one registration until it succeeds; answers that allow a repetition are repeated. */
const insist = (world: World, workload: Workload, peer: SimPeer, command: Command, asks: typeof attempt): Outcome => {
  const until = world.now + PATIENCE;
  let last: Outcome = "silence";
  while (world.now < until) {
    last = asks(world, workload, peer, command);
    if (typeof last !== "string" && last._tag === "Registered") return last;
    world.run(world.now + SECOND);
  }
  return last;
};

/**
 * The metadata of an approver can be replaced upon the revision that a peer shows, through that peer. The same request
 * again, through another peer, is refused for certain: the revision it names has been passed.
 */
const assertReplaceable = (world: World, workload: Workload, peer: SimPeer, other: SimPeer, ref: string): void => {
  const until = world.now + PATIENCE;
  for (;;) {
    const revision = world.service.read(peer, ref)?.revision ?? 0;
    const replacement = world.commands.replacement(ref, `"${revision}"`, "healed");
    const replaced = attemptAtOnce(world, workload, peer, replacement);
    if (typeof replaced !== "string" && replaced._tag === "Replaced") {
      const again = attemptAtOnce(world, workload, other, replacement);
      // A peer that remembers no further denial gives none for certain.
      const isFull = world.plan.capacities.denialsRemembered !== undefined;
      const isRefused =
        typeof again !== "string" &&
        again._tag === "Rejected" &&
        again.rejection.code === "PRECONDITION_FAILED" &&
        (!again.rejection.outcomeUnknown || isFull);
      if (isRefused) return;
      throw new Violation(
        "L4",
        `revision ${revision} of ${ref} was replaced through peer ${peer.slot}`,
        `the same request through peer ${other.slot} gave ${outcomeText(again)}`,
      );
    }
    if (world.now >= until)
      throw new Violation(
        "L4",
        "everything was healed",
        `replacing revision ${revision} of ${ref} through peer ${peer.slot} gave ${outcomeText(replaced)}`,
      );
    world.run(world.now + SECOND);
  }
};

/** A registration that succeeds through a peer gives 200 through the next one, which shows the approver. */
const assertRegistrable = (world: World, workload: Workload, peer: SimPeer, other: SimPeer): string => {
  const command = workload.freshCommand();
  // The first of all may wait until every member has heard of each other.
  const created = insist(world, workload, peer, command, peer.slot === 1 ? attempt : attemptAtOnce);
  if (typeof created === "string" || created._tag !== "Registered")
    throw new Violation(
      "L4",
      "everything was healed",
      `a fresh registration through peer ${peer.slot} gave ${outcomeText(created)}`,
    );
  const again = insist(world, workload, other, command, attemptAtOnce);
  if (typeof again === "string" || again._tag !== "Registered" || again.created)
    throw new Violation(
      "L4",
      `a registration succeeded through peer ${peer.slot}`,
      `its retry through peer ${other.slot} gave ${outcomeText(again)}`,
    );
  const { ref } = again.approver;
  if (world.service.read(other, ref) === undefined)
    throw new Violation(
      "L4",
      `a registration succeeded through peer ${peer.slot}`,
      `peer ${other.slot} does not show it`,
    );
  return ref;
};

/**
 * Registrations succeed through every peer, and metadata can be replaced through one that is drawn: the others have
 * their turn in other seeds, and a seed takes a twentieth less.
 */
const assertProgress = (world: World, workload: Workload): void => {
  const { peers } = world.plan;
  const replacing = world.choices.stream("healed").next().between("replacing peer", 1, 1, peers);
  for (const peer of world.peers) {
    const other = world.peer((peer.slot % peers) + 1);
    const ref = assertRegistrable(world, workload, peer, other);
    if (peer.slot === replacing) assertReplaceable(world, workload, peer, other, ref);
  }
  const using = world.choices.stream("healed keys").next();
  if (using.chance("uses keys", world.plan.workload.keys > 0 ? USING_KEYS : SELDOM_USING_KEYS)) {
    const hands = {
      attempt: (peer: SimPeer, asked: Asked) => attemptAtOnce(world, workload, peer, asked),
      bringBack: (peers: ReadonlyArray<SimPeer>) => bringBack(world, peers),
    };
    assertKeysUsable(world, hands, using);
    settle(world);
  }
  // One seed in some, for it takes as long as two registrations.
  const enrolling = world.choices.stream("healed enrollments").next();
  if (!enrolling.chance("enrolls", ENROLLING)) return;
  const through = world.peer(enrolling.between("enrolling peer", 1, 1, peers));
  const attempted = (peer: SimPeer, asked: Asked): Outcome => attemptAtOnce(world, workload, peer, asked);
  assertEnrollable(world, attempted, through, world.peer((through.slot % peers) + 1));
};

/** Holds the world to its promises: which ones depends on the mode of the plan. */
export const assertLiveness = (world: World, workload: Workload): void => {
  workload.stop();
  // Nothing is healed where progress is not asked for: the world is checked as it is.
  if (world.plan.mode === "safety") return world.sweep();
  if (world.plan.mode === "within") {
    assertReadable(world, calm, bringBack);
    assertSurvivorsApply(world, calm);
    if (world.plan.workload.keys > 0)
      assertSigningSurvives(
        world,
        calm,
        (peer, asked) => attempt(world, workload, peer, asked),
        world.choices.stream("keys before healing").next(),
      );
  }
  heal(world);
  if (world.plan.mode === "past") return assertNamed(world, workload);
  const odd = world.peers.filter((peer) => !peer.honest && !isBack(world, peer));
  if (odd.some((peer) => !peer.rolledBack && !peer.isLying)) return assertRefusedByName(world);
  if (odd.length === 0 && world.ghost.lying === 0) return assertWhole(world, workload);
  world.run(world.now + FOUND_OUT);
  try {
    if (!isFoundOut(world)) assertWhole(world, workload);
  } catch (fault) {
    // What betrays a peer may come up only when another asks about it.
    if (!(fault instanceof Violation && isFoundOut(world))) throw fault;
  }
  const isOut = isFoundOut(world);
  world.marks.add(isOut ? "a faulty member was found out" : "a faulty member left no trace");
  if (!isOut) return;
  settleApplied(world);
  assertStandsStill(world, workload);
  restoreQuarantined(world, workload);
};

/** What operators do in the end about peers on an old disk: then they are members like any other. */
const restoreQuarantined = (world: World, workload: Workload): void => {
  // A traitor's disk is not what it signed; how it gets back in is not tested here.
  if (world.ghost.lying !== 0) return;
  for (const peer of world.peers) if (peer.state?.fitness.quarantine !== undefined) world.restores.declare(peer);
  assertWhole(world, workload);
};

/** Everything works, comes to rest and goes on working (L1 to L5, L9). */
const assertWhole = (world: World, workload: Workload): void => {
  if (!assertPromoted(world)) return world.sweep();
  assertAnsweredBehindExpired(world, (peer, asked) => attempt(world, workload, peer, asked));
  settle(world);
  for (const facts of world.ghost.proposals.values()) if (facts.aborted !== 0) world.marks.add("settled by an abort");
  assertProgress(world, workload);
  settle(world);
  for (const peer of world.peers) assertTidy(peer);
  if (world.plan.workload.isListing) {
    // Another unit than that of the replacement, so that this draw moves none.
    const listing = world.choices.stream("healed lists").next().between("listing peer", 1, 1, world.plan.peers);
    assertListable(world, world.peer(listing));
  }
  assertRestoredOnce(world);
  const operating = world.choices.stream("healed operators").next();
  assertOperable(world, world.peer(operating.between("operated peer", 1, 1, world.plan.peers)), operating);
  world.sweep();
};

/** A restore is over for good: whoever is sealed and unsealed later is a member again, without another one (S34). */
const assertRestoredOnce = (world: World): void => {
  const restored = world.peers.filter(({ slot }) => (world.ghost.restored & maskOf(slot)) !== 0);
  if (restored.length === 0) return;
  for (const peer of restored) world.operators.seal(peer);
  world.run(world.now + SECOND);
  for (const peer of restored) world.operators.unseal(peer);
  settle(world);
};

/** Whether a faulty member has learned from the others what it is; its fault may also be unknown to all. */
const isFoundOut = (world: World): boolean => world.peers.some(({ state }) => state?.fitness.quarantine !== undefined);

/** One faulty member keeps no honest one from applying what another honest one has applied. */
const settleApplied = (world: World): void => {
  const until = world.now + PATIENCE;
  const honest = world.peers.reduce((mask, peer) => (peer.honest ? mask | maskOf(peer.slot) : mask), 0);
  const open = () =>
    [...world.ghost.proposals.values()].find(
      ({ applied }) => (applied & honest) !== 0 && (applied & honest) !== honest,
    );
  while (open() !== undefined && world.now < until) world.run(world.now + SECOND / 4);
  const left = open();
  if (left !== undefined)
    throw new Violation(
      "L1",
      `proposal ${left.id} is applied at peer ${slotsOf(left.applied & honest)[0]}`,
      `peer ${slotsOf(honest & ~left.applied)[0]} has not applied it, with one faulty member in quarantine (${votesOn(world.ghost, left.id)})`,
    );
};

/** While a member is in quarantine no change goes on, whichever peer is asked, and one of them names that member. */
const assertStandsStill = (world: World, workload: Workload): void => {
  const out = world.peers.find(({ state }) => state?.fitness.quarantine !== undefined);
  const because = `peer ${out?.slot} is in quarantine (${out?.state?.fitness.quarantine})`;
  for (const peer of world.peers) {
    const outcome = attempt(world, workload, peer, workload.freshCommand());
    if (typeof outcome !== "string" && outcome._tag === "Registered")
      throw new Violation("S22", because, `a registration through peer ${peer.slot} succeeded`);
    assertNames(peer, outcome, because);
  }
  world.sweep();
};

/** A caller that is turned away is told which members are in the way. */
const assertNames = (peer: SimPeer, outcome: Outcome, because: string): void => {
  const isNamed = typeof outcome !== "string" && outcome._tag === "Rejected" && outcome.rejection.members.length > 0;
  if (!isNamed)
    throw new Violation(
      "L5",
      `${because}, and a refusal names the members that are in the way`,
      `a registration through peer ${peer.slot} gave ${outcomeText(outcome)} and names nobody`,
    );
};

const faultyText = ({ ghost, peers }: World): string =>
  peers
    .filter(({ isLost, honest }) => isLost || !honest)
    .map((peer) => (peer.isLost ? `peer ${peer.slot} is lost` : standingText(ghost, peer)))
    .join("; ");

/** With several faulty or lost members no honest peer tells a false success (S14), and each refusal names a member. */
const assertNamed = (world: World, workload: Workload): void => {
  world.run(world.now + FOUND_OUT);
  for (const peer of world.peers) {
    if (!peer.honest) continue;
    const outcome = attempt(world, workload, peer, workload.freshCommand());
    const isDone = typeof outcome !== "string" && outcome._tag === "Registered";
    world.marks.add(isDone ? "past the budget: went on" : "past the budget: refused by name");
    if (!isDone) assertNames(peer, outcome, `members are lost or faulty: ${faultyText(world)}`);
  }
  world.sweep();
};

/** A wiped peer, or one with another's id, is refused by name by some peer; mutations do not go on without it. */
const assertRefusedByName = (world: World): void => {
  world.run(world.now + 10 * SECOND);
  const named = world.peers.some((peer) => {
    const { state } = peer;
    return state !== undefined && state.cluster.founding.faults.size + state.cluster.promotion.refused.size > 0;
  });
  // A peer that was wiped before any other knew it is a peer like any other.
  const isWhole = world.peers.every((peer) => peer.state?.cluster.membership !== undefined);
  const wrong = world.peers.flatMap(({ honest, slot }) => (honest ? [] : [`peer ${slot}`])).join(", ");
  if (!named && !isWhole)
    throw new Violation(
      "L5",
      `${wrong} was wiped, or was given an id that another has, and some peer names it as the reason why the cluster is not whole`,
      `no peer names anybody: ${world.peers.map((peer) => standingText(world.ghost, peer)).join("; ")}`,
    );
  if (named) world.marks.add("a peer in the place of another was named");
  world.sweep();
};
