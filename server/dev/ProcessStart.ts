/** When a process began: with its number, this tells it from a later one that got the same number. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};

/** proc(5): the name stands in parentheses and may hold anything, so fields are counted from the last one. */
const linuxStart = (pid: number): string | undefined => {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, start] = [fields[0], fields[19]];
  // A zombie has ended; only its parent has not asked yet.
  if (start === undefined || state === "Z" || state === "X") return undefined;
  return `${readOrEmpty("/proc/sys/kernel/random/boot_id").trim()}/${start}`;
};

const otherStart = (pid: number): string | undefined => {
  try {
    const [state = "Z", ...start] = execFileSync("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)], {
      encoding: "latin1",
      stdio: ["ignore", "pipe", "ignore"],
    })
      .trim()
      .split(/\s+/);
    return state.startsWith("Z") ? undefined : start.join(" ");
  } catch {
    return undefined;
  }
};

/** An opaque text that is the same for as long as the process lives; undefined when there is no such process. */
export const processStart = (pid: number): string | undefined =>
  process.platform === "linux" ? linuxStart(pid) : otherStart(pid);
