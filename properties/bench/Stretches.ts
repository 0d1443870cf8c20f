/** Long stretches of work of the event loops of measured processes, which reads have to wait for. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** When a stretch ended, and what it took of the processor. */
export interface Stretch {
  /** Unix milliseconds of its end. */
  readonly at: number;
  readonly millis: number;
}

/** The long stretches of a process, in order. */
export const stretchesOf = (folder: string, pid: number): ReadonlyArray<Stretch> => {
  const file = join(folder, `stretches-${pid}`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => line.split(" ").map(Number)).map(([at = 0, millis = 0]) => ({ at, millis }));
};
