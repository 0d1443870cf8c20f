/** K17: whoever is named as one whose share of a signature was wrong has lied. */
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

export const K17 = (ghost: Ghost): Checker => ({
  id: "K17",
  replied: ({ slot }, { requestId, answer }) => {
    if (answer._tag !== "Signed" || ghost.isLying(slot)) return;
    const wronged = answer.imposters.find((each) => !ghost.isLying(each));
    if (wronged !== undefined)
      throw new Violation(
        "K17",
        `peer ${wronged} is honest`,
        `peer ${slot} told request ${requestId} that its share was wrong`,
      );
  },
});
