/**
 * Lets the event loop go round after every test. Tests of the simulator run for seconds without waiting for
 * anything; dozens of them in a row would keep what the test runner says from being heard for a minute, which it
 * takes for a broken process.
 */
import { afterEach } from "vitest";

afterEach(() => new Promise<void>((resolve) => void setImmediate(resolve)));
