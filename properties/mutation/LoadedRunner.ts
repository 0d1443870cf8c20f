/**
 * A test runner of StrykerJS whose process loads the mutated code and all tests once. A mutant is switched on while
 * tests run, so it takes as long as they do, where loading them anew for each would take several seconds.
 */
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from "@stryker-mutator/api/core";
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

/** Tests in memory, each with a name of its own. */
export interface LoadedTests {
  readonly names: ReadonlyArray<string>;
  /** Those that a mutant is held against, of those in which the changed code runs, which come quickest first. */
  readonly chosen: (names: ReadonlyArray<string>) => ReadonlyArray<string>;
  /** Runs one of them. What is wrong, or nothing. */
  readonly failureOf: (name: string) => Promise<string | undefined> | string | undefined;
}

/** What instrumented code looks at to know which mutant is on, and counts in. */
const context = ((globalThis as { [name: string]: unknown })[INSTRUMENTER_CONSTANTS.NAMESPACE] ??=
  {}) as InstrumenterContext;

export class LoadedRunner implements TestRunner {
  readonly #load: () => Promise<LoadedTests>;
  #tests: LoadedTests = { names: [], chosen: () => [], failureOf: () => "nothing is loaded" };

  /** `load` is called once, in the sandbox with the mutated code, which is the working directory. */
  constructor(load: () => Promise<LoadedTests>) {
    this.#load = load;
  }

  /**
   * Mutants of code that runs while modules load and in tests too are asked for with everything loaded anew. They are
   * on in tests alone, so there is nothing to do for it; without this Stryker would start a process for each.
   */
  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: true };
  }

  async init(): Promise<void> {
    this.#tests = await this.#load();
  }

  async dryRun(): Promise<DryRunResult> {
    const tests: Array<TestResult> = [];
    for (const name of this.#tests.names) tests.push(await this.#test(name));
    delete context.currentTestId;
    const { mutantCoverage: covered } = context;
    if (covered === undefined) return { status: DryRunStatus.Complete, tests };
    // Stryker names the tests of a mutant in the order of this record.
    const quickestFirst = tests.toSorted((one, other) => one.timeSpentMs - other.timeSpentMs);
    const perTest = Object.fromEntries(quickestFirst.map(({ id }) => [id, covered.perTest[id] ?? {}]));
    return { status: DryRunStatus.Complete, tests, mutantCoverage: { static: covered.static, perTest } };
  }

  async mutantRun({ testFilter, activeMutant, hitLimit }: MutantRunOptions): Promise<MutantRunResult> {
    const tests: Array<TestResult> = [];
    context.activeMutant = activeMutant.id;
    if (hitLimit !== undefined) [context.hitCount, context.hitLimit] = [0, hitLimit];
    for (const name of this.#tests.chosen(testFilter ?? this.#tests.names)) {
      const result = await this.#test(name);
      tests.push(result);
      if (result.status === TestStatus.Failed) break;
    }
    delete context.activeMutant;
    const isOverLimit = determineHitLimitReached(context.hitCount, hitLimit);
    delete context.hitCount;
    delete context.hitLimit;
    const last = tests.at(-1);
    // What a mutant left behind in a module must not end the next one: the process starts anew, and this one is asked again.
    if (last?.status === TestStatus.Failed && (await this.#test(last.id)).status === TestStatus.Failed)
      throw new Error(`${last.id} fails without the mutant ${activeMutant.id} that ended it`);
    return toMutantRunResult(isOverLimit ?? { status: DryRunStatus.Complete, tests });
  }

  async #test(name: string): Promise<TestResult> {
    context.currentTestId = name;
    const start = performance.now();
    const failureMessage = await this.#tests.failureOf(name);
    const result = { id: name, name, timeSpentMs: performance.now() - start };
    return failureMessage === undefined
      ? { ...result, status: TestStatus.Success }
      : { ...result, status: TestStatus.Failed, failureMessage };
  }
}
