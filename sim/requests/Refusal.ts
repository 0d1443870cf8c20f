/** A caller may be refused for its own token, never for that of another whose request it had joined (S30). */
import type { Answer } from "../../core/Action.ts";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { TokenKind } from "./Commands.ts";
import { Violation } from "../base/Violation.ts";

/** The refusals that speak of a token. */
const speakOfTokens: ReadonlySet<RejectionCode> = new Set(["UNAUTHENTICATED", "ACCESS_DENIED"]);

/**
 * Throws {@link Violation} when a token is refused that allows what was asked for and that every peer has believed.
 *
 * @param isNeeded whether a token must have a permission
 */
export const assertDeserved = (requestId: string, token: TokenKind, isNeeded: boolean, answer: Answer): void => {
  const isGood = token === "good" || (token === "forbidden" && !isNeeded);
  if (!isGood || answer._tag !== "Rejected" || !speakOfTokens.has(answer.rejection.code)) return;
  throw new Violation(
    "S30",
    `request ${requestId} carried a good token, and no peer that saw it thought otherwise`,
    `it was answered ${answer.rejection.code}: ${answer.rejection.detail}`,
  );
};
