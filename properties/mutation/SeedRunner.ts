/**
 * Holds mutants of `core` against the simulator alone, as a test runner of StrykerJS: every test is one seed. All seeds
 * run in one process that loads the modules once, so a mutant takes a part of a second where a test file of its own
 * takes several to load.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from "@stryker-mutator/api/core";
import { declareClassPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import {
  determineHitLimitReached,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
  TestStatus,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner";
import type { Decider } from "../../sim/Choices.ts";
import type { RunOptions } from "../../sim/RunOptions.ts";

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

/** Those of the seeds by which a mutant comes that it is held against. */
const chosen = (ids: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isSwarm = (id: string) => id.startsWith("swarm ");
  const own = ids.filter((id) => !isSwarm(id));
  return [...ids.filter(isSwarm).slice(0, MOST_SWARM_SEEDS), ...own.slice(0, MOST_OWN_SEEDS)];
};

/** What instrumented code looks at to know which mutant is on, and counts in. */
const context = ((globalThis as { [name: string]: unknown })[INSTRUMENTER_CONSTANTS.NAMESPACE] ??=
  {}) as InstrumenterContext;

class SeedRunner implements TestRunner {
  #seeds: ReadonlyMap<string, RunOptions> = new Map();
  #run: (options: RunOptions) => string | undefined = () => undefined;

  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: false };
  }

  /** Loads the simulator of the sandbox, which is the working directory, with the mutated core. */
  async init(): Promise<void> {
    const load = (path: string) => import(pathToFileURL(resolve(path)).href);
    const { runSeed }: typeof import("../../sim/Simulation.ts") = await load("sim/Simulation.ts");
    const { scheduleNames }: typeof import("../../sim/Schedules.ts") = await load("sim/Schedules.ts");
    this.#seeds = seedsOf(scheduleNames);
    this.#run = (options) => {
      try {
        return runSeed(options, { decider: bounded() }).violation?.message;
      } catch (fault) {
        return String(fault);
      }
    };
  }

  dryRun(): Promise<DryRunResult> {
    const tests = [...this.#seeds.keys()].map((id) => this.#test(id));
    delete context.currentTestId;
    const { mutantCoverage } = context;
    return Promise.resolve({
      status: DryRunStatus.Complete,
      tests,
      ...(mutantCoverage === undefined ? {} : { mutantCoverage }),
    });
  }

  mutantRun({ testFilter, activeMutant, hitLimit }: MutantRunOptions): Promise<MutantRunResult> {
    const tests: Array<TestResult> = [];
    context.activeMutant = activeMutant.id;
    if (hitLimit !== undefined) [context.hitCount, context.hitLimit] = [0, hitLimit];
    for (const id of chosen(testFilter ?? [...this.#seeds.keys()])) {
      const result = this.#test(id);
      tests.push(result);
      if (result.status === TestStatus.Failed) break;
    }
    delete context.activeMutant;
    const isOverLimit = determineHitLimitReached(context.hitCount, hitLimit);
    delete context.hitCount;
    delete context.hitLimit;
    const last = tests.at(-1);
    // What a mutant left behind in a module must not end the next one: the process starts anew, and this one is asked again.
    if (last?.status === TestStatus.Failed && this.#test(last.id).status === TestStatus.Failed)
      return Promise.reject(new Error(`${last.id} fails without the mutant ${activeMutant.id} that ended it`));
    return Promise.resolve(toMutantRunResult(isOverLimit ?? { status: DryRunStatus.Complete, tests }));
  }

  #test(id: string): TestResult {
    const options = this.#seeds.get(id);
    if (options === undefined) throw new TypeError(`no seed is called ${id}`);
    context.currentTestId = id;
    const start = performance.now();
    const failureMessage = this.#run(options);
    const result = { id, name: id, timeSpentMs: performance.now() - start };
    return failureMessage === undefined
      ? { ...result, status: TestStatus.Success }
      : { ...result, status: TestStatus.Failed, failureMessage };
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "seeds", SeedRunner)];
