/**
 * L7: survivors that hold every receipt apply without the rest. Asked before anything is healed: the members that are
 * up are left alone with each other, without the writer where that leaves all receipts among them.
 */
import { modeOf } from "../../core/protocol/Mode.ts";
import { maskOf, type PeerMask, type ProposalFacts, slotsOf } from "../checkers/Ghost.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import { votesOn } from "../checkers/Votes.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
/** The slowest timer of settlement fires every 5 s; three times are enough for question, answer and delivery. */
const PATIENCE = 15 * SECOND;

const isFit = (peer: SimPeer): boolean =>
  peer.honest && !peer.isDamaged && !peer.isSealing && peer.state !== undefined && modeOf(peer.state) === "active";

const maskOfAll = (peers: ReadonlyArray<SimPeer>): PeerMask => peers.reduce((mask, { slot }) => mask | maskOf(slot), 0);

/** Whether they hold a receipt of every member together, or the certificate. */
const holdAll = (peers: ReadonlyArray<SimPeer>, { id, applied }: ProposalFacts, everyone: PeerMask): boolean => {
  if ((applied & maskOfAll(peers)) !== 0) return true;
  let held: PeerMask = 0;
  for (const { state } of peers)
    for (const signer of state?.undecided.preparations.get(id)?.receipts.keys() ?? []) held |= maskOf(signer);
  return held === everyone;
};

/** Nobody has voted against it: then nothing else can become of it. */
const isUnopposed = ({ receipts, refusals, pledges, aborted }: ProposalFacts, everyone: PeerMask): boolean =>
  receipts === everyone && (refusals | pledges | aborted) === 0;

/** What these members can and do not apply yet. */
const openAmong = ({ ghost }: World, peers: ReadonlyArray<SimPeer>): ReadonlyArray<ProposalFacts> => {
  const all = maskOfAll(peers);
  return [...ghost.proposals.values()].filter(
    (facts) =>
      (facts.applied & all) !== all && isUnopposed(facts, ghost.everyone) && holdAll(peers, facts, ghost.everyone),
  );
};

/** The members to be left alone, and what they have to apply; undefined where there is nothing of the kind. */
const survivorsOf = (
  world: World,
): { readonly peers: ReadonlyArray<SimPeer>; readonly open: ReadonlyArray<ProposalFacts> } | undefined => {
  const fit = world.peers.filter(isFit);
  const withoutWriter = fit.filter(({ slot }) => slot !== world.writerSlot);
  for (const peers of [withoutWriter, fit]) {
    const open = peers.length < world.peers.length ? openAmong(world, peers) : [];
    if (open.length > 0) return { peers, open };
  }
  return undefined;
};

/** @param calm stops every fault, and brings nobody back */
export const assertSurvivorsApply = (world: World, calm: (world: World) => void): void => {
  const { ghost } = world;
  // A member that lies, or has forgotten its vote, may speak against what it has signed.
  if ((ghost.lying | ghost.forgetful | ghost.restored | ghost.away) !== 0) return;
  const survivors = survivorsOf(world);
  if (survivors === undefined) return;
  const { peers } = survivors;
  for (const peer of world.peers) if (!peers.includes(peer)) world.processes.crash(peer, "process", false);
  calm(world);
  // Those that were to be started anew once more are, and have forgotten what they had not flushed.
  const open = survivors.open.filter((facts) => holdAll(peers, facts, ghost.everyone));
  if (open.length === 0) return;
  world.marks.add("survivors were left alone with every receipt");
  const all = maskOfAll(peers);
  const isLeft = (facts: ProposalFacts): boolean => (facts.applied & all) !== all && isUnopposed(facts, ghost.everyone);
  const until = world.now + PATIENCE;
  while (open.some(isLeft) && world.now < until) world.run(world.now + SECOND / 4);
  const left = open.find(isLeft);
  if (left !== undefined)
    throw new Violation(
      "L7",
      `peers ${slotsOf(all).join(", ")} hold every receipt for proposal ${left.id}, and reach each other`,
      `peer ${slotsOf(all & ~left.applied)[0]} has not applied it while the others are away (${votesOn(ghost, left.id)})`,
    );
};
