/** Why a peer did not start. */
import { Data } from "effect";

/** The message is for an operator: one line for each problem, "what is wrong; what to do", without secrets. */
export class StartError extends Data.TaggedError("StartError")<{ readonly message: string }> {}

export const startError = (message: string): StartError => new StartError({ message });
