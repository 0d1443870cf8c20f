/** How a command ends when it does not succeed, and the exit code scripts rely on. */
import { Data } from "effect";
import type { Problem } from "./Problem.ts";

/** Exit codes of every command. */
export const exitCodes = {
  done: 0,
  /** The service answered, and it refused. */
  refused: 1,
  /** The command line, a file it names, or the environment is wrong; nothing was sent. */
  usage: 2,
  /** Nothing was sent, or what answered is not the service. */
  unreachable: 3,
  /** The request was sent and its outcome is not known yet; the hint says whether to repeat it at once. */
  unknown: 4,
  /** Somebody else has changed meanwhile what was to be changed; the failure says what it is now. */
  conflict: 5,
  /** It was done, and its result could not be written where it was to be. */
  unwritten: 6,
} as const;

/** A failure in words for a person: what is wrong, and what to do. Never holds a secret. */
export class CliFailure extends Data.TaggedError("CliFailure")<{
  readonly kind: Exclude<keyof typeof exitCodes, "done">;
  readonly message: string;
  readonly hint?: string | undefined;
  /** The service's own account of it. */
  readonly problem?: Problem | undefined;
  /** What stands in the way, as the service shows it. */
  readonly current?: unknown;
}> {}

export const usageFailure = (message: string, hint?: string): CliFailure =>
  new CliFailure({ kind: "usage", message, hint });
