import { configDefaults, defineConfig } from "vitest/config";

export const processes = {
  setupFiles: ["properties/Breath.ts", "properties/Patience.ts"] as string[],
  pool: "forks",
  // Both cores of a small machine: by default one is left alone, and a third process only loads everything once more.
  // The modules of one process are loaded once for all its test files: loading them anew for each file took half of the
  // time. So a test file must leave nothing behind in a module, and none does. None is ended before all are through:
  // files that it was about to be given would be lost.
  poolOptions: { forks: { minForks: 2, maxForks: 2, isolate: false } },
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
