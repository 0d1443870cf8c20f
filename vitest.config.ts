import { configDefaults, defineConfig } from "vitest/config";

export const processes = {
  setupFiles: ["properties/Breath.ts", "properties/Patience.ts"] as string[],
  pool: "forks",
  // Three for the two cores of a small machine, as many tests wait for real peers: 246 s, where two take above 300.
  // The modules of one process are loaded once for all its test files: loading them anew for each file took half of the
  // time. So a test file must leave nothing behind in a module, and none does. None is ended before all are through:
  // files that it was about to be given would be lost.
  poolOptions: { forks: { minForks: 3, maxForks: 3, isolate: false } },
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const;

export default defineConfig({
  test: {
    ...processes,
    include: ["{core,runtime,sim,server,properties}/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "properties/hunts/**"],
  },
});
