/** S9: a peer's locks are exactly those of what it has prepared; the writer also keeps those of what not all acknowledged. */
import type { PeerState } from "../../core/PeerState.ts";
import { locksOf } from "../../core/protocol/Proposal.ts";
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

const expectedLocks = (state: PeerState): ReadonlyMap<string, string> => {
  const expected = new Map<string, string>();
  const members = state.membership?.peerIds.length ?? 0;
  for (const { id, proposal } of state.preparations.values())
    for (const lock of locksOf(proposal)) expected.set(lock, id);
  if (state.membership?.writer === state.peer?.peerId)
    for (const { id, proposal, acks } of state.outbox.values())
      if (acks.size < members) for (const lock of locksOf(proposal)) expected.set(lock, id);
  return expected;
};

export const S9 = (): Checker => {
  const last = new Map<number, readonly [unknown, unknown, unknown]>();
  return {
    id: "S9",
    stepped: ({ slot, honest, state }) => {
      if (!honest || state === undefined) return;
      const { locks, preparations, outbox } = state;
      const known = last.get(slot);
      if (known !== undefined && known[0] === locks && known[1] === preparations && known[2] === outbox) return;
      last.set(slot, [locks, preparations, outbox]);
      if (state.integrityFault !== undefined) return;
      const expected = expectedLocks(state);
      for (const [lock, id] of expected)
        if (locks.get(lock) !== id)
          throw new Violation(
            "S9",
            `peer ${slot} has proposal ${id} open`,
            `its lock ${lock} is held by ${locks.get(lock) ?? "nobody"}`,
          );
      for (const [lock, id] of locks)
        if (!expected.has(lock))
          throw new Violation(
            "S9",
            `peer ${slot} holds lock ${lock} for proposal ${id}`,
            "that proposal is not open there",
          );
    },
  };
};
