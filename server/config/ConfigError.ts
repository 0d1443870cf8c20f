/** All faults of a configuration at once, in words an operator can act on. */
import { Data } from "effect";

/** One problem: the dotted path of the key (or the file), and "what is wrong; what to do". */
export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** Problems listed in the message of one error; the rest is counted. */
const listedProblems = 50;

/** A configuration that cannot be used. Its message holds keys and file names, never a configured value. */
export class ConfigError extends Data.TaggedError("ConfigError")<{
  readonly problems: ReadonlyArray<ConfigProblem>;
}> {
  /** One line for each problem: `path: what is wrong; what to do`. */
  override get message(): string {
    const lines = this.problems.slice(0, listedProblems).map((problem) => `${problem.path}: ${problem.message}`);
    const more = this.problems.length - lines.length;
    return (more > 0 ? [...lines, `and ${more} more`] : lines).join("\n");
  }
}

/** A {@link ConfigError} with a single problem. */
export const configError = (path: string, message: string): ConfigError =>
  new ConfigError({ problems: [{ path, message }] });
