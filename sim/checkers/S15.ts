/** S15: at most one response completes a session, anywhere and for ever. */
import { onApprover } from "../models/Effects.ts";
import type { Checker, Watched } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

export const S15 = (): Checker => {
  /** By session: the response that has completed it, and where that was first seen. */
  const completed = new Map<string, { readonly response: string; readonly slot: number }>();
  const note = ({ slot, honest }: Watched, session: string, response: string): void => {
    if (!honest) return;
    const known = completed.get(session);
    if (known !== undefined && known.response !== response)
      throw new Violation(
        "S15",
        `peer ${known.slot} completed session ${session} with response ${known.response}`,
        `peer ${slot} completed it with response ${response}`,
      );
    if (known === undefined) completed.set(session, { response, slot });
  };
  return {
    id: "S15",
    written: {
      certificates: (peer, write) => {
        if (write.op === "remove") return;
        const effects = onApprover(write.row.proposal);
        if (effects?.registrationId !== undefined) note(peer, effects.registrationId, effects.responseDigest ?? "none");
      },
      sessions: (peer, write) => {
        if (write.op !== "remove" && write.row.completed !== undefined)
          note(peer, write.key, write.row.completed.responseDigest);
      },
    },
  };
};
