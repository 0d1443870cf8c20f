/** How many files this process may have open; every connection is one. */
import { readFileSync } from "node:fs";

/**
 * The soft limit in a text like `/proc/self/limits`, infinite where there is none. The platform has raised it as far as
 * it could before the first line of this program.
 */
export const softLimitIn = (limits: string): number => {
  const [, soft] = /^Max open files\s+(\d+|unlimited)\s/m.exec(limits) ?? [];
  return soft === undefined || soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
};

/** The soft limit of this process; infinite where the system does not tell. */
export const mostOpenFiles = (): number => {
  try {
    return softLimitIn(readFileSync("/proc/self/limits", "latin1"));
  } catch {
    // Only Linux has this file.
    return Number.POSITIVE_INFINITY;
  }
};
