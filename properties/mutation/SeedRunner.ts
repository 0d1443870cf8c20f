/** Holds mutants of `core` against the simulator alone, as a test runner of StrykerJS: every test is one seed. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { declareFactoryPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import type { Decider } from "../../sim/Choices.ts";
import type { RunOptions } from "../../sim/RunOptions.ts";
import { LoadedRunner, type LoadedTests } from "./LoadedRunner.ts";

/** Seeds of the default mix come first: most mutants end with one of them. */
const SWARM_SEEDS = 24;
const STEPS = 500;
/** A mutant that comes by in more seeds is held against the first ones of each kind alone. */
const MOST_SWARM_SEEDS = 10;
const MOST_OWN_SEEDS = 6;
/** One of so many is of the tier codec, which all of `core/codec` needs. */
const CODEC_EVERY = 8;

const seedsOf = (schedules: ReadonlyArray<RunOptions["schedule"]>): ReadonlyMap<string, RunOptions> => {
  const swarm = Array.from({ length: SWARM_SEEDS }, (_, index): RunOptions => {
    const seed = index + 1;
    return { seed, schedule: "swarm", crypto: seed % CODEC_EVERY === 0 ? "codec" : "fast", steps: STEPS };
  });
  const own = schedules.map((schedule): RunOptions => ({ seed: 1, schedule, crypto: "fast", steps: STEPS }));
  return new Map(
    [...swarm, ...own].map((options) => [`${options.schedule} ${options.seed} ${options.crypto}`, options]),
  );
};

/** Ends a run that a mutant keeps from coming to its end. The run without mutants shows that each seed needs fewer. */
const MOST_DRAWS = 100_000;

const bounded = (): Decider => {
  let draws = 0;
  const drawn = <T>(value: T): T => {
    draws += 1;
    if (draws > MOST_DRAWS) throw new Error("the run does not come to its end");
    return value;
  };
  return {
    whole: (_unit, _label, value) => drawn(value),
    flag: (_unit, _label, value) => drawn(value),
    named: (_unit, _label, value) => drawn(value),
  };
};

/** The first ones of each kind, in the order of all seeds. */
const firstOf = (all: ReadonlyArray<string>, names: ReadonlySet<string>): ReadonlyArray<string> => {
  const isSwarm = (name: string) => name.startsWith("swarm ");
  const those = all.filter((name) => names.has(name));
  const own = those.filter((name) => !isSwarm(name));
  return [...those.filter(isSwarm).slice(0, MOST_SWARM_SEEDS), ...own.slice(0, MOST_OWN_SEEDS)];
};

/** Loads the simulator of the sandbox. */
const loadSeeds = async (): Promise<LoadedTests> => {
  const load = (path: string) => import(pathToFileURL(resolve(path)).href);
  const { runSeed }: typeof import("../../sim/Simulation.ts") = await load("sim/Simulation.ts");
  const { scheduleNames }: typeof import("../../sim/Schedules.ts") = await load("sim/Schedules.ts");
  const seeds = seedsOf(scheduleNames);
  const all = [...seeds.keys()];
  return {
    names: all,
    chosen: (names) => firstOf(all, new Set(names)),
    failureOf: (name) => {
      const options = seeds.get(name);
      if (options === undefined) throw new TypeError(`no seed is called ${name}`);
      try {
        return runSeed(options, { decider: bounded() }).violation?.message;
      } catch (fault) {
        return String(fault);
      }
    },
  };
};

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, "seeds", () => new LoadedRunner(loadSeeds))];
