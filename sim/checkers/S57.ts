/**
 * S57: nobody talks a peer out of its place. One that runs on its newest disk and tells the truth does not put itself in
 * quarantine, whatever others say that it has signed; and it finds damage only where somebody has changed its rows. Nor
 * does a founder call a peer two that is one.
 */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Said of one that was wiped, or initialized under the id of another. */
const TWICE = "is used twice";

export const S57 = (ghost: Ghost): Checker => {
  /** By slot: whether it was ever one of those. */
  const doubtful = new Set<number>();

  const assertOne = (slot: number, faults: ReadonlyMap<PeerId, string>): void => {
    if (faults.size === 0 || doubtful.size > 0) return;
    const twice = [...faults].find(([, fault]) => fault.includes(TWICE));
    if (twice === undefined) return;
    throw new Violation("S57", "every peer has its own id, and the key it began with", `to peer ${slot} ${twice[1]}`);
  };

  const noteDoubtful = ({ slot, honest }: Watched): void => {
    if (!honest) doubtful.add(slot);
  };

  return {
    id: "S57",
    booted: noteDoubtful,
    stepped: (peer) => {
      const { slot, honest, state, harm, isDamaged } = peer;
      noteDoubtful(peer);
      if (state === undefined || !honest || ((ghost.lying | ghost.forgetful) & maskOf(slot)) !== 0) return;
      assertOne(slot, state.cluster.founding.faults);
      const { quarantine, integrityFault } = state.fitness;
      if (quarantine !== undefined)
        throw new Violation("S57", `peer ${slot} has lost nothing`, `it put itself in quarantine: ${quarantine}`);
      if (integrityFault !== undefined && harm === undefined && !isDamaged)
        throw new Violation(
          "S57",
          `all rows of peer ${slot} are as it wrote them`,
          `it found that not to be so: ${integrityFault}`,
        );
    },
  };
};
