import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    pool: "forks",
    // Both cores of a small machine: by default one is left alone.
    poolOptions: { forks: { maxForks: 2 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: ["{core,runtime,sim}/**/*.test.ts"],
          // Nothing in there reaches outside, so that files may share a process: loading was half of their time.
          poolOptions: { forks: { isolate: false } },
        },
      },
      { extends: true, test: { name: "machine", include: ["{server,properties}/**/*.test.ts"] } },
    ],
  },
});
