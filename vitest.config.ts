import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{core,runtime,sim,server,properties}/**/*.test.ts"],
    pool: "forks",
    // Both cores of a small machine: by default one is left alone.
    poolOptions: { forks: { maxForks: 2 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
