/**
 * S57: nobody talks a peer out of its place. One that runs on its newest disk and tells the truth does not put itself in
 * quarantine, whatever others say that it has signed; and it finds damage only where somebody has changed its rows.
 */
import type { Checker } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S57 = (ghost: Ghost): Checker => ({
  id: "S57",
  stepped: ({ slot, honest, state, harm, isDamaged }) => {
    if (state === undefined || !honest || ((ghost.lying | ghost.forgetful) & maskOf(slot)) !== 0) return;
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
});
