/**
 * Lets the event loop go round after every test. Tests of the simulator run for seconds without waiting for anything;
 * dozens of them in a row would hold back the messages of the test runner for a minute, and it would take the process
 * for a broken one.
 */
import { afterEach } from "vitest";

afterEach(() => new Promise<void>((resolve) => void setImmediate(resolve)));
