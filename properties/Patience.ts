/** Waits for half a minute where a test does not say how long: on a busy machine the second of the test runner is short. */
import { vi } from "vitest";

const patient = { timeout: 30_000, interval: 50 };
const { waitFor } = vi;

// This file is read once for every test file, and there is one `vi` for all of them.
if (waitFor.name !== "waitPatiently") {
  vi.waitFor = function waitPatiently(callback, options = patient) {
    return waitFor(callback, options);
  };
}
