/** When a cluster in which nothing goes wrong any more is at rest: L1 to L3 and the first half of L5. */
import { isIndexed } from "../../core/commands/approvers/ApproverIndex.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { type Ghost, slotsOf } from "../checkers/Ghost.ts";
import { votesOn } from "../checkers/Votes.ts";

/** A peer at the end, simulated or real. */
export interface Standing {
  readonly slot: number;
  /** Undefined while no process runs. */
  readonly state: PeerState | undefined;
}

/** A reason why a cluster is not at rest yet: the invariant it would break and the two facts. */
export type Unrest = readonly [id: string, first: string, second: string];

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

/** Why a peer could not take part. */
const absence = ({ slot, state }: Standing): Unrest | undefined => {
  if (state === undefined || !state.fitness.unsealed)
    return ["L5", "everything was healed", `peer ${slot} is not unsealed`];
  if (state.cluster.membership === undefined)
    return ["L5", "everything was healed", `peer ${slot} has not founded the cluster`];
  if (state.fitness.integrityFault !== undefined || state.fitness.quarantine !== undefined)
    return [
      "L5",
      "everything was healed",
      `peer ${slot} is out: ${state.fitness.integrityFault ?? state.fitness.quarantine}`,
    ];
  if (state.rejoining.recovery !== undefined)
    return ["L5", "everything was healed", `peer ${slot} is still recovering: ${state.rejoining.recovery.waitsFor}`];
  return undefined;
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
      `peer ${first.slot} has the root of ${first.state.registry.approvers} approvers`,
      `peer ${slot} has another, of ${state.registry.approvers}`,
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
  return firstOf(peers, absence) ?? proposalUnrest(ghost) ?? firstOf(peers, (peer) => remainder(ghost, first, peer));
};
