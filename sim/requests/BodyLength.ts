/**
 * How a body's length affects its request: a well-formed body of the greatest length is not refused for what it is,
 * and a longer one leads to nothing (S30).
 */
import type { Answer } from "../../core/Action.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { LONGEST_BODY } from "./Commands.ts";
import { isSuccess } from "./Success.ts";
import { Violation } from "../base/Violation.ts";

/** Throws {@link Violation} when a body of a valid length is refused for what it is, or a longer one accepted. */
export const assertLength = (requestId: string, { rawBody }: Call, answer: Answer): void => {
  const isTooLong = rawBody.length > LONGEST_BODY;
  const isWrong = isTooLong
    ? isSuccess(answer)
    : answer._tag === "Rejected" && answer.rejection.code === "INVALID_REQUEST_BODY";
  if (!isWrong) return;
  throw new Violation(
    "S30",
    `request ${requestId} has a well-formed body of ${rawBody.length} bytes, where ${LONGEST_BODY} are allowed`,
    `it was answered ${answer._tag === "Rejected" ? answer.rejection.code : answer._tag}`,
  );
};
