/** S28: a peer whose rows do not hold, or that has no keys in memory, signs nothing. */
import type { Checker, Watched } from "../Checker.ts";
import { Violation } from "../Violation.ts";

/** Why a peer must not sign: what was done to its disk, whether it noticed or not; then what it has found itself. */
const reasonOf = ({ harm, state, slot }: Watched): string | undefined => {
  if (harm !== undefined) return `peer ${slot} was unsealed on a disk that somebody had changed: ${harm}`;
  if (state?.integrityFault !== undefined) return `peer ${slot} found that rows do not hold: ${state.integrityFault}`;
  return state?.quarantine && `peer ${slot} is quarantined: ${state.quarantine}`;
};

export const S28 = (): Checker => ({
  id: "S28",
  signed: (peer, tag) => {
    if (!peer.honest || tag !== "CUSTODY_STMT_BATCH_V1") return;
    const reason = reasonOf(peer);
    if (reason !== undefined) throw new Violation("S28", reason, `peer ${peer.slot} signed a batch of statements`);
  },
});
