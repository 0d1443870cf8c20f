/** What came of a request, as far as its caller can tell. */
import type { Answer } from "../../core/Action.ts";
import { isSuccess } from "./Success.ts";

export type Outcome = Answer | "unreachable" | "silence";

export const isDone = (outcome: Outcome): boolean => typeof outcome !== "string" && isSuccess(outcome);

/** Whether the caller does not know what became of it. */
export const isOpen = (outcome: Outcome): boolean =>
  typeof outcome === "string" || (outcome._tag === "Rejected" && outcome.rejection.outcomeUnknown);

const marksOf = (name: string) => ({
  caller: `caller: ${name}`,
  racer: `racer: ${name}`,
  beside: `caller, beside: ${name}`,
});

/** The marks set for outcomes, by {@link nameOf}. */
export const outcomeMarks = {
  silence: marksOf("silence"),
  unreachable: marksOf("unreachable"),
  "outcome unknown": marksOf("outcome unknown"),
  refused: marksOf("refused"),
  success: marksOf("success"),
};

/** One word for an outcome. */
export const nameOf = (outcome: Outcome): keyof typeof outcomeMarks => {
  if (typeof outcome === "string") return outcome;
  if (outcome._tag === "Rejected") return outcome.rejection.outcomeUnknown ? "outcome unknown" : "refused";
  return "success";
};

/** An outcome in full: of a refusal its code, its words and the members it names. */
export const outcomeText = (outcome: Outcome): string => {
  if (typeof outcome === "string" || outcome._tag !== "Rejected")
    return typeof outcome === "string" ? outcome : outcome._tag;
  const { code, detail, members } = outcome.rejection;
  return `${code} (${detail}${members.map(({ peerId, reason }) => `; peer ${peerId} ${reason}`).join("")})`;
};
