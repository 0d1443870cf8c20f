import { defineConfig } from "vitest/config";

/** The tests that `npm run mutate` runs against changes of `core`: those that need no process and no disk. */
export default defineConfig({
  test: {
    include: ["{core,runtime}/**/*.test.ts", "properties/webauthn/*.test.ts"],
    poolOptions: { threads: { isolate: false } },
    testTimeout: 60_000,
  },
});
