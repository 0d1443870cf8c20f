/** What holds in every configuration of a small world, and when its work is done. */
import { production } from "../models/Models.ts";
import type { Watched } from "../checkers/Checker.ts";
import { S9 } from "../checkers/S9.ts";
import type { Configuration } from "./Configuration.ts";
import type { Member } from "./Member.ts";

export interface Claims {
  /** Throws a Violation when the configuration that `before` led to breaks a claim. */
  readonly assertSafe: (after: Configuration, before: Configuration) => void;
  /** The invariant that is broken where work is left for ever. */
  readonly unfinished: string;
  /** The work that is left somewhere; undefined when everything is done and forgotten. Throws the same where it was done badly. */
  readonly remainderOf: (at: Configuration) => string | undefined;
}

/** A member as the simulator's checkers see a peer. */
const watched = ({ peerId, rows, memory, flushing }: Member): Watched => ({
  slot: peerId,
  honest: true,
  state: memory?.state,
  store: rows,
  process: 1,
  lastReading: Number.POSITIVE_INFINITY,
  decidedAt: 0,
  isIdle: memory !== undefined && flushing === undefined,
  isDamaged: false,
  harm: undefined,
  isVerified: true,
  misjudgesTokens: false,
  settings: undefined,
});

/** S9: a member's locks are those of what it has prepared; looked for where a member has changed. */
export const assertRemembered = ({ members }: Configuration, before: Configuration): void => {
  members.forEach((member, index) => {
    if (member !== before.members[index]) S9({ product: production }).stepped?.(watched(member));
  });
};

/** What is undecided somewhere, or undefined when everything is decided and forgotten (L1, L2). */
export const undecidedIn = ({ members }: Configuration): string | undefined => {
  for (const { peerId, memory } of members) {
    if (memory === undefined) return `peer ${peerId} is down`;
    const {
      undecided: { preparations, refused, aborting, locks, outbox },
    } = memory.state;
    for (const [name, { size }] of Object.entries({ preparations, refused, aborting, locks, outbox }))
      if (size > 0) return `peer ${peerId} has ${name}: ${size}`;
  }
  return undefined;
};
