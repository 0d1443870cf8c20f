/**
 * L10: a peer answers each caller once, within 10 s of its monotonic clock, if only that the outcome is open.
 */
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

/** What the service promises, in microseconds. */
const PROMISED = 10_000_000;

export const L10 = (): Checker => {
  const answered = new Map<string, string>();
  return {
    id: "L10",
    unanswered: ({ slot, process }, requestId, askedAt, now) => {
      throw new Violation(
        "L10",
        `request ${requestId} reached peer ${slot} at ${askedAt} µs`,
        `process ${process} of that peer has run without a pause until ${now} µs and not answered it`,
      );
    },
    replied: ({ slot }, { requestId, answer, undisturbedSince, repliedAt }) => {
      if (undisturbedSince !== undefined && repliedAt - undisturbedSince > PROMISED)
        throw new Violation(
          "L10",
          `request ${requestId} reached peer ${slot} at ${undisturbedSince} µs`,
          `it was answered at ${repliedAt} µs, ${answer._tag}, although that peer had run without a pause since then`,
        );
      const before = answered.get(requestId);
      if (before !== undefined)
        throw new Violation(
          "L10",
          `request ${requestId} was answered ${before}`,
          `peer ${slot} answered it again: ${answer._tag}`,
        );
      answered.set(requestId, answer._tag);
    },
  };
};
