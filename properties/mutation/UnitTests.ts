/**
 * Test files that are loaded once, and each of whose tests runs as often as it is asked for. Vitest collects and runs
 * them, which takes a file as a whole by itself.
 */
import { pathToFileURL } from "node:url";
import { collectTests, type File, startTests, type Suite, type Test } from "@vitest/runner";
import { getFullName, getTests } from "@vitest/runner/utils";
import { VitestTestRunner } from "vitest/runners";
import { VitestSnapshotEnvironment } from "vitest/snapshot";
import type { WorkerConfig } from "./VitestWorker.ts";

/** From the innermost to the file. */
const suitesOf = ({ suite, file }: Test | Suite): ReadonlyArray<Suite> =>
  suite === undefined ? [file] : [suite, ...suitesOf(suite)];

const messageOf = ({ result }: Test | Suite): string => result?.errors?.[0]?.message ?? "it failed";

/** To be loaded in a process that `becomeVitestWorker` has prepared. */
export class UnitTests extends VitestTestRunner {
  declare config: WorkerConfig;
  #running: Test | undefined;

  constructor(config: WorkerConfig) {
    config.snapshotOptions.snapshotEnvironment = new VitestSnapshotEnvironment();
    super(config);
  }

  /** The tests of files by names of their own. Rejects where a file does not load. */
  async load(paths: ReadonlyArray<string>): Promise<ReadonlyMap<string, Test>> {
    const files = await collectTests([...paths], this);
    const broken = files.find(({ result }) => result?.state === "fail");
    if (broken !== undefined) throw new Error(`${broken.name} does not load: ${messageOf(broken)}`);
    const tests = getTests(files).filter(({ mode }) => mode === "run");
    return new Map(tests.map((test) => [`${getFullName(test)} (${test.id})`, test]));
  }

  /** Runs one test with the hooks around it. What is wrong with it or with one of them, or nothing. */
  async failureOf(test: Test): Promise<string | undefined> {
    this.#running = test;
    await startTests([], this);
    const failed = [test, ...suitesOf(test)].find(({ result }) => result?.state === "fail");
    return failed && messageOf(failed);
  }

  override importFile(path: string): Promise<unknown> {
    return import(pathToFileURL(path).href);
  }

  /** A run collects nothing: the file of its test has been loaded. */
  onCollected(files: Array<File>): void {
    if (this.#running !== undefined) files.push(this.#running.file);
  }

  override onBeforeRunSuite(suite: Suite): Promise<void> {
    delete suite.result;
    suite.mode = this.#running !== undefined && suitesOf(this.#running).includes(suite) ? "run" : "skip";
    return super.onBeforeRunSuite(suite);
  }

  override onBeforeRunTask(test: Test): Promise<void> {
    delete test.result;
    test.mode = test === this.#running ? "run" : "skip";
    return super.onBeforeRunTask(test);
  }
}
