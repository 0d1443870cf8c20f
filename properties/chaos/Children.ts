/** Processes that this run has started: none outlives it. */
import type { ChildProcess } from "node:child_process";

const running = new Set<ChildProcess>();

/** Watches a process that was just started. */
export const keepInMind = (child: ChildProcess): void => {
  running.add(child);
  for (const end of ["error", "exit"]) child.once(end, () => void running.delete(child));
};

/** SIGKILL to all that have not ended, paused or not. */
export const killAll = (): void => {
  for (const child of running) child.kill("SIGKILL");
};
