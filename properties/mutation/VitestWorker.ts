/** What a worker of vitest puts in place before anything of vitest is loaded. */
import type { VitestRunnerConfig } from "@vitest/runner";
import type { SerializedConfig } from "vitest";

export type WorkerConfig = SerializedConfig & VitestRunnerConfig;

/**
 * Makes this process one in which test files of the working directory can be loaded. Answers with how they are to be
 * run, which is `vitest.config.ts` as far as running tests looks at it.
 */
export const becomeVitestWorker = (): WorkerConfig => {
  const config = {
    name: "",
    root: process.cwd(),
    setupFiles: [],
    passWithNoTests: false,
    sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
    maxConcurrency: 1,
    // Counting what each test covers makes some of them take minutes. Stryker ends what does not come to its end.
    testTimeout: 0,
    hookTimeout: 0,
    retry: 0,
    expect: {},
    // Files that tests compare with are read and never written.
    snapshotOptions: { updateSnapshot: "none" },
  } as unknown as WorkerConfig;
  const worker = {
    config,
    ctx: { pool: "forks" },
    environment: { name: "node" },
    onCleanup: () => undefined,
    rpc: { resolveSnapshotPath: (path: string) => `${path}.snap`, snapshotSaved: () => undefined },
  };
  Object.assign(globalThis, { __vitest_worker__: worker });
  return config;
};
