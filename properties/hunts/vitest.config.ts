import { defineConfig } from "vitest/config";
import { processes } from "../../vitest.config.ts";

/** What `npm run test:hunts` runs: tests of thousands of seeds, and of processes that are killed under load. */
export default defineConfig({
  test: { ...processes, include: ["properties/hunts/*.test.ts"], testTimeout: 240_000 },
});
