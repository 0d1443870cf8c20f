/** What a process has used, by the kernel's account of it. */
import { readFileSync } from "node:fs";

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
