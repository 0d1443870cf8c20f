/** What a look at a machine or a cluster came to: one line each. */

export type Level = "ok" | "warn" | "fail";

export interface Finding {
  /** What was looked at, such as `disk` or `peer 2`. */
  readonly check: string;
  readonly level: Level;
  /** What was found; where it is not ok, also what to do. */
  readonly message: string;
}

export const ok = (check: string, message: string): Finding => ({ check, level: "ok", message });
export const warn = (check: string, message: string): Finding => ({ check, level: "warn", message });
export const fail = (check: string, message: string): Finding => ({ check, level: "fail", message });
