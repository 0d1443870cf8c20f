/** S28: a peer whose rows do not hold, or that has no keys in memory, signs nothing. */
import type { Checker, Watched } from "../Checker.ts";
import { Violation } from "../Violation.ts";

/** Why a peer must not sign, by what it was told; never by what it concluded. */
const reasonOf = ({ knownDamage, state }: Watched): string | undefined => {
  if (knownDamage !== undefined) return `its rows did not hold when it was unsealed: ${knownDamage}`;
  if (state?.integrityFault !== undefined) return `its rows do not hold: ${state.integrityFault}`;
  return state?.quarantine;
};

export const S28 = (): Checker => ({
  id: "S28",
  signed: (peer, tag) => {
    if (!peer.honest || tag !== "CUSTODY_STMT_BATCH_V1") return;
    const reason = reasonOf(peer);
    if (reason !== undefined)
      throw new Violation("S28", `peer ${peer.slot} knows: ${reason}`, "it signed a batch of statements");
  },
});
