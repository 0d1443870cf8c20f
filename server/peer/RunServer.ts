/** One peer as a process: `custody server`. */
import { Effect } from "effect";
import { optimizeEarly } from "./EarlyOptimization.ts";
import { jsonLog } from "./Log.ts";
import { type ServerHost, type ServerOptions, startServer } from "./Server.ts";
import type { StartError } from "./StartError.ts";

/** EX_SOFTWARE of sysexits.h: what the process ends with when it must not go on. */
const HALTED = 70;

const writeLog = (line: string): void => {
  process.stderr.write(line);
};

/** Going on could turn a mistake into a lost record, and what is durable is safe: the process ends at once. */
const halt = (): void => process.exit(HALTED);

const host: ServerHost = { writeLog, halt };

const log = jsonLog("info", writeLog, () => Date.now());

const stopOnFault = (fault: unknown): void => {
  log.error("stopping", { reason: fault instanceof Error ? (fault.stack ?? fault.message) : "an unknown fault" });
  halt();
};

/**
 * Runs a peer until it is interrupted (by SIGTERM or SIGINT under the platform's
 * main function), then drains and closes. Fails with {@link StartError} when it
 * cannot start. Ends the process with code 70, after one line of log, when the
 * disk fails or this program breaks a promise of its own.
 */
export const runServer = (options: ServerOptions): Effect.Effect<never, StartError> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      optimizeEarly();
      process.on("uncaughtException", stopOnFault);
      process.on("unhandledRejection", stopOnFault);
    }),
    () =>
      Effect.sync(() => {
        process.off("uncaughtException", stopOnFault);
        process.off("unhandledRejection", stopOnFault);
      }),
  ).pipe(Effect.zipRight(startServer(options, host)), Effect.zipRight(Effect.never), Effect.scoped);
