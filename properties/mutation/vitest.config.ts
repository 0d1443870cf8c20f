/** The unit tests that mutants are held against where no seed has noticed them. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{core,runtime}/**/*.test.ts"],
    pool: "threads",
    // A mutant is switched on while it runs, so modules may stay loaded from one to the next.
    isolate: false,
    poolOptions: { threads: { isolate: false } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
