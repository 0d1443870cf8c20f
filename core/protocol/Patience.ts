/** How long a request waits before its caller is told something, in milliseconds. */
import type { Turn } from "./Turn.ts";

/** Room for an answer's way from one peer to the next and to the caller. */
const margin = (turn: Turn): number => Math.min(500, turn.context.settings.answerMillis / 10);

/** How long a request waits at its entry peer. */
export const entryPatience = (turn: Turn): number => turn.context.settings.answerMillis - margin(turn);

/** How long it waits at the writer: less, because the writer knows what it is waiting for and can say so. */
export const writerPatience = (turn: Turn): number => turn.context.settings.answerMillis - 2 * margin(turn);
