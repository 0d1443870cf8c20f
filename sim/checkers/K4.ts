/** K4: no signature without the consents of as many members as sign; fewer traitors than that make none by themselves. */
import { isSigning } from "../requests/KeyRequests.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import { countOf, type Ghost, slotsOf } from "./Ghost.ts";
import { messageOf } from "./Signing.ts";

export const K4 = (ghost: Ghost): Checker => ({
  id: "K4",
  replied: ({ slot }, { requestId, answer, asked }) => {
    if (answer._tag !== "Signed" || asked === undefined || !isSigning(asked) || ghost.isLying(slot)) return;
    const { keys, lying, membership } = ghost;
    const { operationId, generation } = answer;
    const digest = ghost.crypto.sha256(messageOf(asked));
    const honest = slotsOf(keys.consentersOf(operationId) & ~lying);
    const needed = (membership?.topology.threshold ?? 1) - countOf(lying);
    const told = `peer ${slot} answered request ${requestId} with a signature of operation ${operationId}`;
    if (honest.length < needed)
      throw new Violation("K4", `${honest.length} honest members have consented, and it takes ${needed}`, told);
    for (const consenter of honest) {
      const consent = keys.consentOf(operationId, consenter);
      if (consent?.messageDigest !== digest || consent.keyId !== asked.keyId || consent.generation !== generation)
        throw new Violation("K4", `peer ${consenter} has consented to another message, key or generation`, told);
    }
  },
});
