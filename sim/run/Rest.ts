/** When a cluster in which nothing goes wrong any more is at rest: L1 to L3 and the first half of L5. */
import { isIndexed } from "../../core/commands/approvers/ApproverIndex.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { type Ghost, maskOf, type PeerMask, slotsOf } from "../checkers/Ghost.ts";
import { votesOn } from "../checkers/Votes.ts";
import { absenceOf, rootText, type Standing, type Unrest } from "./Absence.ts";

/** L1: any proposal ever prepared or refused is applied everywhere or aborted everywhere. */
const proposalUnrest = (ghost: Ghost): Unrest | undefined => {
  const { everyone, lying, restored, proposals } = ghost;
  // A traitor's own disk is no evidence of what it signed.
  const trusted = everyone & ~lying;
  for (const { id, receipts, barring, forgotten, applied, aborted } of proposals.values()) {
    if ((applied & trusted) === trusted || (aborted & trusted) === trusted) continue;
    // Proposals known only to old incarnations or lost disks are gone with them.
    if (applied === 0 && ((receipts | barring) & trusted & ~(restored | forgotten)) === 0) continue;
    // A restored peer needs no trace of what the others aborted.
    if (applied === 0 && ((aborted | restored) & trusted) === trusted) continue;
    const [open] = slotsOf(trusted & ~(applied | aborted));
    return [
      "L1",
      `proposal ${id} was prepared or refused: ${votesOn(ghost, id)}`,
      `peer ${open} has not decided it after healing, when every receipt makes it apply and one refusal lets it end`,
    ];
  }
  return undefined;
};

/** Where the registries of two peers part, by what is durable at each. */
const parting = (ghost: Ghost, one: number, other: number): string => {
  const { proposals, subjects, product } = ghost;
  const isAt = (mask: PeerMask, slot: number): boolean => (mask & maskOf(slot)) !== 0;
  for (const [ref, { holders, revisionAt }] of subjects) {
    const revisions = [one, other].map((slot) => (isAt(holders, slot) ? (revisionAt[slot] ?? 0) : 0));
    if (revisions[0] === revisions[1]) continue;
    const prepared = [...proposals.values()].filter(({ receipts }) => receipts !== 0);
    const about = prepared.findLast(({ proposal }) => product.changeOf(proposal).ref === ref);
    const votes = about === undefined ? "" : `; proposal ${about.id} of it: ${votesOn(ghost, about.id)}`;
    return `of ${ref} they have revisions ${revisions.join(" and ")}${votes}`;
  }
  const last = [...proposals.values()].findLast(({ applied }) => isAt(applied, one) && isAt(applied, other));
  const votes = last === undefined ? "" : `; the last change, proposal ${last.id}: ${votesOn(ghost, last.id)}`;
  return `they hold the same approvers in the same revisions, so one has not kept its root up${votes}`;
};

/** What a peer that takes part has not finished, or has otherwise than the first. */
const remainder = (ghost: Ghost, first: Standing | undefined, { slot, state }: Standing): Unrest | undefined => {
  if (state === undefined || ghost.isLying(slot)) return undefined;
  const { outbox, preparations, refused, aborting, locks } = state.undecided;
  const [delivery] = outbox.values();
  const left: ReadonlyArray<readonly [string, number, Digest | undefined]> = [
    ["outbox", outbox.size, delivery?.id],
    ["preparations", preparations.size, [...preparations.keys()][0]],
    ["refused", refused.size, [...refused.keys()][0]],
    ["aborting", aborting.size, [...aborting.keys()][0]],
    ["locks", locks.size, [...locks.values()][0]],
  ];
  for (const [name, size, id] of left)
    if (size > 0)
      return [
        "L2",
        "everything was healed, and what all members have acknowledged leaves nothing behind",
        `peer ${slot} still has: ${name} ${size}${id === undefined ? "" : `, such as of proposal ${id} (${votesOn(ghost, id)})`}`,
      ];
  if (!isIndexed(state)) return ["L2", "everything was healed", `peer ${slot} still makes its index of approvers`];
  const { setDigest } = ghost.crypto;
  if (first?.state !== undefined && setDigest(first.state.registry.set) !== setDigest(state.registry.set))
    return [
      "L3",
      `everything is applied everywhere, so that all roots are equal; peer ${first.slot} has the ${rootText(ghost, first.state)}`,
      `peer ${slot} has the ${rootText(ghost, state)}; ${parting(ghost, first.slot, slot)}`,
    ];
  return undefined;
};

const firstOf = <A>(all: ReadonlyArray<A>, look: (each: A) => Unrest | undefined): Unrest | undefined => {
  for (const each of all) {
    const found = look(each);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Why these peers are not at rest together; undefined when they are. `peers` ascending, from the first. */
export const unrestOf = (ghost: Ghost, peers: ReadonlyArray<Standing>): Unrest | undefined => {
  const first = peers.find(({ slot }) => !ghost.isLying(slot));
  return (
    firstOf(peers, (peer) => absenceOf(ghost, peers, peer)) ??
    proposalUnrest(ghost) ??
    firstOf(peers, (peer) => remainder(ghost, first, peer))
  );
};
