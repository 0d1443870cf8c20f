import { configDefaults, defineConfig } from "vitest/config";

export const processes = {
  setupFiles: ["properties/Breath.ts", "properties/Patience.ts"] as string[],
  pool: "forks",
  // Both cores of a small machine: by default one is left alone. The modules of one process are
  // loaded once for all its test files: loading them anew for each file took half of the time. So
  // a test file must leave nothing behind in a module, and none does.
  poolOptions: { forks: { maxForks: 2, isolate: false } },
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;

export default defineConfig({
  test: {
    ...processes,
    include: ["{core,runtime,sim,server,properties}/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "properties/hunts/**"],
  },
});
