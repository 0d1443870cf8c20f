/** S28: a peer whose rows do not hold, or that has no keys in memory, signs nothing. */
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

export const S28 = (_: Ghost): Checker => ({
  id: "S28",
  signed: ({ slot, honest, state }, tag) => {
    if (!honest || tag !== "CUSTODY_STMT_BATCH_V1") return;
    const reason =
      state?.integrityFault === undefined
        ? state?.quarantine === undefined
          ? undefined
          : `it is quarantined: ${state.quarantine}`
        : `its rows do not hold at ${state.integrityFault}`;
    if (reason !== undefined)
      throw new Violation("S28", `peer ${slot} knows that ${reason}`, "it signed a batch of statements");
  },
});
