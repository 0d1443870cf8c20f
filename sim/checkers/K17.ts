/**
 * K17: whoever is named as one whose share of a signature was wrong has lied, and so has one of those whose words of a key
 * generation are said not to fit.
 */
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

export const K17 = (ghost: Ghost): Checker => ({
  id: "K17",
  replied: ({ slot }, { requestId, answer }) => {
    if (ghost.isLying(slot)) return;
    if (answer._tag === "Rejected" && answer.rejection.code === "KEYGEN_DISPUTED") {
      const named = answer.rejection.members.map(({ peerId }) => peerId);
      const isWriterLying = ghost.isLying(ghost.membership?.writer ?? 0);
      if (!isWriterLying && !named.some((each) => ghost.isLying(each)))
        throw new Violation(
          "K17",
          `peers ${named.join(", ")} are honest`,
          `peer ${slot} told request ${requestId} that one of them lied while a key was made`,
        );
    }
    const wronged = answer._tag === "Signed" ? answer.imposters.find((each) => !ghost.isLying(each)) : undefined;
    if (wronged !== undefined)
      throw new Violation(
        "K17",
        `peer ${wronged} is honest`,
        `peer ${slot} told request ${requestId} that its share was wrong`,
      );
  },
});
