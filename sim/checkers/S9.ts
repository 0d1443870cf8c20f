/** S9: a peer's locks are exactly those of what it has prepared; the writer keeps them until all have acknowledged. */
import type { Preparation } from "../../core/protocol/Undecided.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** A proposal whose locks must be held. */
type Open = Pick<Preparation, "id" | "proposal">;

type LocksOf = (proposal: Proposal) => ReadonlyArray<string>;

const forEachOpen = (state: PeerState, look: (open: Open) => void): void => {
  for (const each of state.undecided.preparations.values()) look(each);
  const members = state.cluster.membership?.peerIds.length ?? 0;
  if (state.cluster.membership?.writer === state.cluster.peer?.peerId)
    for (const each of state.undecided.outbox.values()) if (each.acks.size < members) look(each);
  // Those still in here are aborts that not all have acknowledged.
  for (const each of state.undecided.aborting.values()) look(each);
};

/** A lock that no open proposal accounts for, with who holds it. */
const strayLock = (locksOf: LocksOf, state: PeerState): readonly [string, string] | undefined => {
  const expected = new Set<string>();
  forEachOpen(state, ({ proposal }) => {
    for (const lock of locksOf(proposal)) expected.add(lock);
  });
  return [...state.undecided.locks].find(([lock]) => !expected.has(lock));
};

export const S9 = ({ product }: Pick<Ghost, "product">): Checker => {
  const locksOf: LocksOf = (proposal) => product.changing(proposal.kind).locksOf(proposal);
  const last: Array<PeerState | undefined> = [];
  /** The peer that `look` looks at; `look` is made once, because there would be one for every step. */
  let slot = 0;
  let locks: PeerState["undecided"]["locks"] = new Map();
  let held = 0;
  const look = ({ id, proposal }: Open): void => {
    for (const lock of locksOf(proposal)) {
      held += 1;
      if (locks.get(lock) === id) continue;
      throw new Violation(
        "S9",
        `peer ${slot} has proposal ${id} open`,
        `its lock ${lock} is held by ${locks.get(lock) ?? "nobody"}`,
      );
    }
  };
  return {
    id: "S9",
    stepped: (peer) => {
      const { state } = peer;
      if (!peer.honest || state === undefined) return;
      const {
        undecided: { preparations, outbox, aborting },
      } = state;
      const known = last[peer.slot];
      last[peer.slot] = state;
      const isKnown =
        known?.undecided.locks === state.undecided.locks &&
        known.undecided.preparations === preparations &&
        known.undecided.outbox === outbox &&
        known.undecided.aborting === aborting;
      if (isKnown) return;
      // A sealed peer started on a torn disk does not know yet that its rows do not hold.
      if (state.fitness.integrityFault !== undefined || (!state.fitness.unsealed && peer.isDamaged)) return;
      slot = peer.slot;
      locks = state.undecided.locks;
      held = 0;
      forEachOpen(state, look);
      // Each lock was found with its own proposal, so if the counts are equal there are no others.
      const stray = held === locks.size ? undefined : strayLock(locksOf, state);
      if (stray !== undefined)
        throw new Violation(
          "S9",
          `peer ${slot} holds lock ${stray[0]} for proposal ${stray[1]}`,
          "that proposal is not open there",
        );
    },
  };
};
