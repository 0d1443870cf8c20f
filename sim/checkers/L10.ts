/** L10: whoever asks a peer is answered by it within 10 s of its monotonic clock, if only that the outcome is open. */
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

export const L10 = (): Checker => ({
  id: "L10",
  unanswered: ({ slot, process }, requestId, askedAt, now) => {
    throw new Violation(
      "L10",
      `request ${requestId} reached peer ${slot} at ${askedAt} µs`,
      `process ${process} of that peer has run without a pause until ${now} µs and not answered it`,
    );
  },
});
