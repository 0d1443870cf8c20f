/**
 * L10: a peer answers each caller once, within 10 s of its monotonic clock, if only that the outcome is open; and it
 * says that the time is up only when it is.
 */
import type { Answer } from "../../core/Action.ts";
import { outcomeText } from "../requests/Outcome.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { votesOnRequest } from "./Votes.ts";
import { Violation } from "../base/Violation.ts";

/** What the service promises, in microseconds. */
const PROMISED = 10_000_000;

/** What it says when that time is nearly up, and which part of it has passed by then. */
const NO_LONGER =
  /^The request waited for its turn too long|^The writer has not answered in time|has said in time that /u;
const NEARLY = 0.75;

const RULE = "and is answered once, within 10 s, if only that its outcome is open";

export const L10 = (ghost: Ghost): Checker => {
  const answered = new Map<string, Answer>();
  return {
    id: "L10",
    unanswered: ({ slot, process }, requestId, askedAt, now) => {
      throw new Violation(
        "L10",
        `request ${requestId} reached peer ${slot} at ${askedAt} µs, ${RULE}`,
        `process ${process} of that peer has run without a pause until ${now} µs and not answered it; ${votesOnRequest(ghost, slot, requestId)}`,
      );
    },
    replied: ({ slot, settings }, { requestId, answer, askedAt, undisturbedSince, repliedAt }) => {
      // What a writer says is passed on as it is.
      const isTrue = !ghost.isLying(ghost.membership?.writer ?? slot);
      const isOver = isTrue && answer._tag === "Rejected" && NO_LONGER.test(answer.rejection.detail);
      const patience = (settings?.answerMillis ?? 0) * 1_000;
      if (isOver && askedAt !== undefined && repliedAt - askedAt < NEARLY * patience)
        throw new Violation(
          "L10",
          `request ${requestId} reached peer ${slot} at ${askedAt} µs, and its caller waits for ${patience} µs`,
          `at ${repliedAt} µs it was told that the time is up: ${outcomeText(answer)}; ${votesOnRequest(ghost, slot, requestId)}`,
        );
      if (undisturbedSince !== undefined && repliedAt - undisturbedSince > PROMISED)
        throw new Violation(
          "L10",
          `request ${requestId} reached peer ${slot} at ${undisturbedSince} µs, ${RULE}`,
          `it was answered at ${repliedAt} µs, ${outcomeText(answer)}, although that peer had run without a pause since then; ${votesOnRequest(ghost, slot, requestId)}`,
        );
      const before = answered.get(requestId);
      if (before !== undefined)
        throw new Violation(
          "L10",
          `request ${requestId} reached peer ${slot}, ${RULE}: ${outcomeText(before)}`,
          `peer ${slot} answered it again: ${outcomeText(answer)}; ${votesOnRequest(ghost, slot, requestId)}`,
        );
      answered.set(requestId, answer);
    },
  };
};
