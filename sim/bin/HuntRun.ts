/** One run of a hunt. */
import { Choices } from "../base/Choices.ts";
import { planOf } from "../run/Planning.ts";
import { plantedBugNamed } from "../bugs/PlantedBugs.ts";
import type { HuntOptions } from "../hunting/HuntOptions.ts";
import { reportOf, type RunReport } from "../hunting/Report.ts";
import { runSeed } from "../run/Simulation.ts";
import { processLost } from "../run/ThrownOut.ts";
import { backendOf } from "./NativeBackend.ts";

/** Runs one seed of a hunt. */
export const runOf = (seed: number, options: HuntOptions, line?: (line: string) => void): RunReport => {
  const tampering = options.bug === undefined ? undefined : plantedBugNamed(options.bug)?.tampering();
  return reportOf(runSeed({ seed, ...options }, { tampering, line, backend: backendOf(seed) }), options);
};

/** The report on a seed whose process ended. It has no tape: a process that recorded one would end too. */
export const lostRun = (seed: number, options: HuntOptions, end: number | string | null): RunReport => {
  const { plan } = planOf({ seed, ...options }, new Choices(seed));
  const nothing = { hash: NO_HASH, events: 0, calls: 0, faults: [], marks: [] };
  return reportOf({ seed, plan, ...nothing, violation: processLost(end) }, options);
};
const NO_HASH = "0".repeat(16);
