import { defineConfig } from "vitest/config";
import { processes } from "../../vitest.config.ts";

/**
 * What `npm run test:hunts` runs: whole runs, pinned seeds, and processes that are killed or compile everything.
 * Most of these compute: two processes do for two cores.
 */
export default defineConfig({
  test: {
    ...processes,
    poolOptions: { forks: { ...processes.poolOptions.forks, minForks: 2, maxForks: 2 } },
    include: ["properties/hunts/*.test.ts"],
    testTimeout: 240_000,
  },
});
