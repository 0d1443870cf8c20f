/** When V8 turns this process's functions into optimized code. */
import { setFlagsFromString } from "node:v8";

/** Bytes of bytecode; 66 KB is V8's own choice, made for pages that live for seconds. */
const BUDGET = 30_000;

/**
 * Lets a function be optimized after it has run through half as much code as V8 waits for by itself. A
 * registration runs most functions of a peer a few times, so with one caller the wait is thousands of
 * registrations long (docs/performance.md). To be called before there is much to optimize; a V8 without
 * this flag says so on standard error and goes on.
 */
export const optimizeEarly = (): void => setFlagsFromString(`--interrupt-budget=${BUDGET}`);
