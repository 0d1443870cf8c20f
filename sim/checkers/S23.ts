/** S23: a message that was handled and comes again, byte for byte, writes nothing. */
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

export const S23 = (): Checker => ({
  id: "S23",
  redelivered: ({ slot, honest }, message, transactions) => {
    if (honest && transactions > 0)
      throw new Violation(
        "S23",
        `peer ${slot} had handled this ${message._tag}`,
        `the same ${message._tag} again made it write ${transactions} transaction(s)`,
      );
  },
});
