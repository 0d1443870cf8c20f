import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{core,runtime,sim,server,properties}/**/*.test.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
