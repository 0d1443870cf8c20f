/** How long a request waits before its caller is told something, in milliseconds. */
import type { Step } from "./Step.ts";

/** Room for an answer's way from one peer to the next and to the caller. */
const margin = (step: Step): number => Math.min(500, step.context.settings.answerMillis / 10);

/** How long a request waits at its entry peer. */
export const entryPatience = (step: Step): number => step.context.settings.answerMillis - margin(step);

/** How long it waits at the writer: less, because the writer knows what it is waiting for and can say so. */
export const writerPatience = (step: Step): number => step.context.settings.answerMillis - 2 * margin(step);
