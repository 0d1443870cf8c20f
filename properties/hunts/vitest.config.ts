import { defineConfig } from "vitest/config";
import { processes } from "../../vitest.config.ts";

/** What `npm run test:hunts` runs: whole runs, pinned seeds, and processes that are killed or compile everything. */
export default defineConfig({
  test: { ...processes, include: ["properties/hunts/*.test.ts"], testTimeout: 240_000 },
});
