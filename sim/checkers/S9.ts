/** S9: a peer's locks are exactly those of what it has prepared; the writer also keeps those of what not all acknowledged. */
import type { PeerState, Preparation } from "../../core/PeerState.ts";
import { locksOf } from "../../core/protocol/Proposal.ts";
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

/** A proposal whose locks must be held. */
type Open = Pick<Preparation, "id" | "proposal">;

const openAt = (state: PeerState): ReadonlyArray<Open> => {
  const open: Array<Open> = [...state.preparations.values()];
  const members = state.membership?.peerIds.length ?? 0;
  if (state.membership?.writer === state.peer?.peerId)
    for (const each of state.outbox.values()) if (each.acks.size < members) open.push(each);
  // Whatever is still in here is an abort that not all have acknowledged.
  open.push(...state.aborting.values());
  return open;
};

/** A lock that no open proposal accounts for, with who holds it. */
const strayLock = (locks: PeerState["locks"], open: ReadonlyArray<Open>): readonly [string, string] | undefined => {
  const expected = new Set(open.flatMap(({ proposal }) => locksOf(proposal)));
  return [...locks].find(([lock]) => !expected.has(lock));
};

export const S9 = (): Checker => {
  const last = new Map<number, readonly [unknown, unknown, unknown, unknown]>();
  return {
    id: "S9",
    stepped: ({ slot, honest, state }) => {
      if (!honest || state === undefined) return;
      const { locks, preparations, outbox, aborting } = state;
      const known = last.get(slot);
      const isKnown = known?.[0] === locks && known[1] === preparations && known[2] === outbox && known[3] === aborting;
      if (isKnown) return;
      last.set(slot, [locks, preparations, outbox, aborting]);
      if (state.integrityFault !== undefined) return;
      const open = openAt(state);
      let held = 0;
      for (const { id, proposal } of open)
        for (const lock of locksOf(proposal)) {
          held += 1;
          if (locks.get(lock) === id) continue;
          throw new Violation(
            "S9",
            `peer ${slot} has proposal ${id} open`,
            `its lock ${lock} is held by ${locks.get(lock) ?? "nobody"}`,
          );
        }
      // Each lock was found with its own proposal, so as many locks as were found are exactly those.
      const stray = held === locks.size ? undefined : strayLock(locks, open);
      if (stray !== undefined)
        throw new Violation(
          "S9",
          `peer ${slot} holds lock ${stray[0]} for proposal ${stray[1]}`,
          "that proposal is not open there",
        );
    },
  };
};
