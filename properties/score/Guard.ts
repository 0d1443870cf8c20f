/** Watches a process that says something now and then, and kills it when it has worked too long without a word. */
import { type ChildProcess, execFileSync } from "node:child_process";

/** Seconds between two looks. */
const GLANCE = 10;

/** Of `ps`: days, hours, minutes and seconds, as many as there are, `1-02:03:04`, `03:04` or `3:04.05`. */
export const secondsOf = (text: string): number | undefined => {
  const [, days = "0", clock = ""] = /^\s*(?:(\d+)-)?(\d+(?::\d+)+)(?:\.\d+)?\s*$/u.exec(text) ?? [];
  if (clock === "") return undefined;
  const seconds = clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
  return Number(days) * 86_400 + seconds;
};

/** Seconds of processor that a process has used; without `ps`, those on the clock. */
const workOf = (pid: number): number => {
  try {
    return secondsOf(execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" })) ?? 0;
  } catch {
    return performance.now() / 1_000;
  }
};

export interface Guard {
  /** It has said something. */
  readonly heard: () => void;
  /** Ends the watch, and tells whether it was killed. */
  readonly end: () => boolean;
}

/**
 * @param patience seconds of processor time, so that a busy machine kills nothing
 */
export const watch = (child: ChildProcess, patience: number): Guard => {
  const { pid } = child;
  let isHeard = true;
  let since = 0;
  let isKilled = false;
  const look = (): void => {
    if (pid === undefined) return;
    const work = workOf(pid);
    if (isHeard) since = work;
    isHeard = false;
    if (work - since < patience) return;
    isKilled = true;
    child.kill("SIGKILL");
  };
  const timer = setInterval(look, Math.min(GLANCE, patience) * 1_000);
  return {
    heard: () => {
      isHeard = true;
    },
    end: () => {
      clearInterval(timer);
      return isKilled;
    },
  };
};
