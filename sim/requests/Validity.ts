/**
 * What a body alone decides: a request that keeps every rule is not refused for what it is, and one that breaks a rule
 * leads to nothing but the refusal that this rule has (S30).
 */
import type { Answer } from "../../core/Action.ts";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Asked } from "./Asked.ts";
import { LONGEST_BODY } from "./Bodies.ts";
import { isReplacement } from "./Commands.ts";
import { isRepairing } from "./KeyRequests.ts";
import { isFinish } from "./EnrollmentRequests.ts";
import { isSuccess } from "./Success.ts";
import { Violation } from "../base/Violation.ts";

/** Refusals that speak of the request alone, whatever is registered and whoever is there. */
const ofRequests: ReadonlySet<RejectionCode> = new Set([
  "INVALID_REQUEST_BODY",
  "INVALID_METADATA",
  "INVALID_REF",
  "INVALID_PUBLIC_KEY",
  "UNSUPPORTED_ALGORITHM",
  "INVALID_CEREMONY",
  "PRECONDITION_REQUIRED",
  "WEBAUTHN_DISABLED",
  "SCHEME_NOT_THRESHOLD",
  "INVALID_COMMAND",
  "AUTHORITY_NOT_ATTACHED",
]);

/** The refusal of this kind that a request deserves; undefined where none. */
const deserved = (asked: Asked): RejectionCode | undefined => {
  if (asked.edge?.refusedAs !== undefined) return asked.edge.refusedAs;
  if (isFinish(asked)) return asked.isHonest ? undefined : "INVALID_CEREMONY";
  // Whether its helpers fit depends on the peer that is asked.
  if (isRepairing(asked)) return "INVALID_REQUEST_BODY";
  return isReplacement(asked) && asked.ifMatch === undefined ? "PRECONDITION_REQUIRED" : undefined;
};

/** Throws {@link Violation} when a valid request is refused for what it is, or one that breaks a rule accepted. */
export const assertValidity = (requestId: string, asked: Asked, answer: Answer): void => {
  const { edge, call } = asked;
  const length = call.rawBody.length;
  const wanted = deserved(asked);
  const isBroken = edge?.refusedAs !== undefined;
  const isWrong = isSuccess(answer)
    ? isBroken
    : answer._tag === "Rejected" && ofRequests.has(answer.rejection.code) && answer.rejection.code !== wanted;
  if (!isWrong) return;
  const fitting =
    edge === undefined ? "keeps every rule" : `${isBroken ? "breaks" : "keeps"} ${edge.rule}: ${edge.how}`;
  throw new Violation(
    "S30",
    `request ${requestId} of ${length} of ${LONGEST_BODY} bytes ${wanted === undefined || isBroken ? fitting : `deserves ${wanted}`}`,
    `it was answered ${answer._tag === "Rejected" ? `${answer.rejection.code}: ${answer.rejection.detail}` : answer._tag}`,
  );
};

/** The mark of a rule that was kept by a request that was done, or broken by one that was refused for it. */
export const markOfEdge = ({ edge }: Asked, answer: Answer): string | undefined => {
  if (edge === undefined) return undefined;
  if (isSuccess(answer)) return `kept ${edge.rule}`;
  const isForIt = answer._tag === "Rejected" && answer.rejection.code === edge.refusedAs;
  return isForIt ? `broken ${edge.rule}` : undefined;
};
