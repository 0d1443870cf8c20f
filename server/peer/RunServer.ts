/** One peer as a process: `custody server`. */
import { Effect } from "effect";
import { debuggingFault, nodeOptions } from "./Debugging.ts";
import { optimizeEarly } from "./EarlyOptimization.ts";
import { jsonLog } from "./Log.ts";
import { type RunningServer, type ServerHost, type ServerOptions, startServer } from "./Server.ts";
import { tellManager } from "./ServiceManager.ts";
import { type StartError, startError } from "./StartError.ts";

/** EX_SOFTWARE of sysexits.h: what the process ends with when it must not go on. */
const HALTED = 70;

const writeLog = (line: string): void => {
  process.stderr.write(line);
};

/** Going on could turn a mistake into a lost record, while durable rows are safe: the process ends at once. */
const halt = (): void => process.exit(HALTED);

const host: ServerHost = { writeLog, halt };

const log = jsonLog("info", writeLog, () => Date.now());

const stopOnFault = (fault: unknown): void => {
  log.error("stopping", { reason: fault instanceof Error ? (fault.stack ?? fault.message) : "an unknown fault" });
  halt();
};

/** What a peer does at each signal that does not stop it. */
const signalHandlers = (reload: () => void) => ({
  SIGHUP: reload,
  SIGUSR1: () => log.warn("signal ignored", { signal: "SIGUSR1", reason: "a peer opens no debugger" }),
  SIGUSR2: () => log.warn("signal ignored", { signal: "SIGUSR2", reason: "it means nothing to a peer" }),
});

const catchSignals = (reload: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const handlers = Object.entries(signalHandlers(reload));
      for (const [signal, handler] of handlers) process.on(signal, handler);
      return handlers;
    }),
    (handlers) =>
      Effect.sync(() => {
        for (const [signal, handler] of handlers) process.off(signal, handler);
      }),
  );

const stopOnFaults = Effect.acquireRelease(
  Effect.sync(() => {
    process.on("uncaughtException", stopOnFault);
    process.on("unhandledRejection", stopOnFault);
  }),
  () =>
    Effect.sync(() => {
      process.off("uncaughtException", stopOnFault);
      process.off("unhandledRejection", stopOnFault);
    }),
);

/** A debugger asked for just before its signal was caught opens some turns of the event loop later. */
const refuseDebugging = Effect.suspend(() => {
  const fault = debuggingFault(nodeOptions());
  return fault === undefined ? Effect.void : Effect.fail(startError(fault));
});

/**
 * Runs a peer until it is interrupted (by SIGTERM or SIGINT under the platform's
 * main function), then drains and closes; SIGHUP makes it read its files anew.
 * Fails with {@link StartError} when it cannot start. Ends the process with code
 * 70, after one line of log, when the disk fails or this program breaks a promise
 * of its own.
 */
export const runServer = (options: ServerOptions): Effect.Effect<never, StartError> =>
  Effect.gen(function* () {
    const started: { server?: RunningServer } = {};
    const reload = (): void => {
      if (started.server !== undefined) void started.server.reload();
      else log.info("signal ignored", { signal: "SIGHUP", reason: "this peer is still starting" });
    };
    yield* catchSignals(reload);
    // All files that this process makes are for this user alone.
    process.umask(0o077);
    optimizeEarly();
    yield* stopOnFaults;
    yield* refuseDebugging;
    started.server = yield* startServer(options, host);
    yield* refuseDebugging;
    yield* Effect.addFinalizer(() => tellManager(process.env, log, "STOPPING=1"));
    yield* tellManager(process.env, log, "READY=1", "STATUS=listening; custody status says whether it is unsealed");
    return yield* Effect.never;
  }).pipe(Effect.scoped);
