/**
 * S50: what a session gives out was sealed for this very end of it, and each message once, in the order in which they
 * were sealed: nothing of another stream, of the other direction, of a stream before it, and nothing twice.
 */
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

export const S50 = (): Checker => ({
  id: "S50",
  takenInSession: ({ slot }, isItsOwn, place, expected) => {
    if (isItsOwn && place === expected) return;
    throw new Violation(
      "S50",
      `peer ${slot} takes a message for the next one of a session, its ${expected}th`,
      isItsOwn ? `it is the ${place}th` : "it was sealed for another end",
    );
  },
});
