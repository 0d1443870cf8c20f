/** What a process has used, by the kernel's account of it. */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** User and system time so far, in seconds: on a busy machine it tells more than a rate. */
export const cpuSeconds = (pid: number): number => {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) / 100;
};

/** Resident memory now, and the most it ever was, in MiB. */
export const memoryMiB = (pid: number): { readonly now: number; readonly most: number } => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN);
  return { now: kib("VmRSS") / 1024, most: kib("VmHWM") / 1024 };
};

/** A process that computes less than this part of a second has nothing left to do behind its answers. */
const IDLE = 0.05;
const MOST_IDLE_WAIT_SECONDS = 300;

/** Waits until a process that nobody calls does nothing; how many seconds it had to do, to one second. */
export const untilIdle = async (pid: number): Promise<number> => {
  for (let waited = 0; waited < MOST_IDLE_WAIT_SECONDS; waited++) {
    const before = cpuSeconds(pid);
    await setTimeout(1000);
    if (cpuSeconds(pid) - before < IDLE) return waited;
  }
  throw new Error(`process ${pid} was busy for ${MOST_IDLE_WAIT_SECONDS} s though nobody called it`);
};
