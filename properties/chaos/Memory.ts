/** Whether a process uses no more memory late than early, under a load that stays the same. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Either, Schema } from "effect";
import { memoryProcess, type MemorySample } from "./PortFiles.ts";

const MIB = 1024 * 1024;
/** While code is compiled and caches fill. */
const WARMING_MILLIS = 30_000;
/** A shorter time than this, and fewer samples, tell nothing. */
const LEAST_MILLIS = 60_000;
const LEAST_SAMPLES = 8;
/**
 * What is held grows until bounded caches are full: verified signatures, elements of the registry root, hashes of the
 * audit, each in two generations (runtime/RecentMap.ts), some 16 MiB in all; and code that is compiled late, some 8 MiB.
 */
const MOST_USED = 32 * MIB;
/** Of an approver that was registered or taken over meanwhile: 40 rows, 16 bytes each (runtime/KnownRows.ts), in a table
 * that is half full, and there twice while it grows. */
const PER_APPROVER = 40 * 16 * 3;
/** Beside that, what allocators keep of pages of SQLite and of many large bodies at once. */
const MOST_RESIDENT = 192 * MIB;

/** What one process used at least, in the first and in the last quarter of its time once it was warm; in bytes. */
export interface MemoryCourse {
  readonly seconds: number;
  readonly used: readonly [early: number, late: number];
  readonly resident: readonly [early: number, late: number];
}

/** Undefined where the process did not live for long enough. */
export const courseOf = (samples: ReadonlyArray<MemorySample>): MemoryCourse | undefined => {
  const warm = samples.filter(({ at }) => at >= WARMING_MILLIS);
  const millis = (warm.at(-1)?.at ?? 0) - (warm[0]?.at ?? 0);
  if (millis < LEAST_MILLIS || warm.length < LEAST_SAMPLES) return undefined;
  const part = Math.floor(warm.length / 4);
  const ends = (of: (sample: MemorySample) => number): readonly [number, number] => [
    Math.min(...warm.slice(0, part).map(of)),
    Math.min(...warm.slice(-part).map(of)),
  ];
  return {
    seconds: Math.round(millis / 1000),
    used: ends(({ used }) => used),
    resident: ends(({ resident }) => resident),
  };
};

const mib = (bytes: number): string => (bytes / MIB).toFixed(1);

/**
 * Why the memory of a process is not flat; undefined where it is.
 * @param approvers how many there are in the end
 */
export const memoryFault = ({ used, resident, seconds }: MemoryCourse, approvers: number): string | undefined => {
  const grown = ([early, late]: readonly [number, number]): number => late - early;
  if (grown(used) > MOST_USED + approvers * PER_APPROVER)
    return `it held ${mib(grown(used))} MiB more after ${seconds} s, from ${mib(used[0])} to ${mib(used[1])}`;
  if (grown(resident) > MOST_RESIDENT)
    return `${mib(grown(resident))} MiB more were resident after ${seconds} s, from ${mib(resident[0])} to ${mib(resident[1])}`;
  return undefined;
};

/** One line for a process. */
export const memoryLine = ({ used, resident, seconds }: MemoryCourse): string =>
  `in ${seconds} s from ${mib(used[0])} to ${mib(used[1])} MiB held, ${mib(resident[0])} to ${mib(resident[1])} resident`;

const decodeSample = Schema.decodeEither(
  Schema.parseJson(Schema.Struct({ at: Schema.Number, used: Schema.Number, resident: Schema.Number })),
);

/** The courses of all processes of a peer that lived for long enough, by their number. */
export const readMemory = (chaosFolder: string): ReadonlyMap<number, MemoryCourse> => {
  const courses = new Map<number, MemoryCourse>();
  for (const name of readdirSync(chaosFolder)) {
    const process = memoryProcess(name);
    if (process === undefined) continue;
    // A killed process may have cut its last line short.
    const lines = readFileSync(join(chaosFolder, name), "utf8").split("\n");
    const course = courseOf(
      lines.flatMap((line) => Either.match(decodeSample(line), { onLeft: () => [], onRight: (sample) => [sample] })),
    );
    if (course !== undefined) courses.set(process, course);
  }
  return courses;
};
