/** Starting, watching and stopping the processes of a development cluster. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync } from "node:fs";
import { Effect, Schedule } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";
import type { DevFolder, DevPeerFolder } from "./DevFolder.ts";
import { peerCommand } from "./PeerCommand.ts";
import { runningPid } from "./PidFile.ts";
import { processStart } from "./ProcessStart.ts";

export interface PeerProcess {
  readonly id: number;
  readonly pid: number;
  /** How it ended; undefined while it runs. */
  readonly ending: () => string | undefined;
}

/** A peer that has not closed by then is killed. */
const stopMillis = 15_000;
const pollMillis = 50;

/** A peer is configured by its file alone: variables that the operator's shell sets for other commands are left out. */
const peerEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CUSTODY_")));

const endingOf = (child: ChildProcess): string | undefined => {
  if (child.signalCode !== null) return `killed by ${child.signalCode}`;
  return child.exitCode === null ? undefined : `ended with exit code ${child.exitCode}`;
};

/**
 * Starts one peer with its output in its log; the log of the run before is kept as `peer.log.1`.
 *
 * The process leads a session of its own, so that Ctrl-C in the terminal reaches
 * only `custody dev`, which then stops the peers in order.
 */
export const startPeer = (entry: string, folder: DevFolder, id: number): Effect.Effect<PeerProcess, CliFailure> =>
  Effect.async((resume) => {
    const { log, folder: cwd } = folder.peer(id);
    const [program, ...args] = peerCommand(entry, folder, id);
    if (existsSync(log)) renameSync(log, `${log}.1`);
    const output = openSync(log, "a", 0o600);
    const child = spawn(program, args, {
      cwd,
      detached: true,
      env: peerEnvironment(),
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    child.once("error", () => resume(Effect.fail(usageFailure(`peer ${id} cannot be started as ${program}`))));
    child.once("spawn", () => {
      child.unref();
      const { pid } = child;
      if (pid !== undefined) resume(Effect.succeed({ id, pid, ending: () => endingOf(child) }));
    });
  });

/** The last lines of a peer's log. */
export const lastLogLines = ({ log }: DevPeerFolder, count: number): ReadonlyArray<string> => {
  try {
    return readFileSync(log, "utf8").trimEnd().split("\n").slice(-count);
  } catch {
    return [];
  }
};

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
};

/**
 * Stops processes and waits until they are gone: SIGTERM, and SIGKILL after 15 s.
 *
 * @returns the numbers of those that had to be killed
 */
export const stopProcesses = (pids: ReadonlyArray<number>): Effect.Effect<ReadonlyArray<number>> =>
  Effect.gen(function* () {
    const begun = new Map(pids.map((pid) => [pid, processStart(pid)]));
    const living = (): ReadonlyArray<number> =>
      pids.filter((pid) => begun.get(pid) !== undefined && processStart(pid) === begun.get(pid));
    const gone = Effect.suspend(() => (living().length === 0 ? Effect.void : Effect.fail("living"))).pipe(
      Effect.retry(Schedule.spaced(pollMillis)),
      Effect.timeout(stopMillis),
      Effect.ignore,
    );
    for (const pid of living()) send(pid, "SIGTERM");
    yield* gone;
    const stubborn = living();
    for (const pid of stubborn) send(pid, "SIGKILL");
    yield* gone;
    return stubborn;
  });

/** The processes that run peers of a folder, even those started by others. */
export const runningPeers = (folder: DevFolder, ids: ReadonlyArray<number>): ReadonlyArray<number> =>
  ids.flatMap((id) => runningPid(folder.peer(id).pidFile) ?? []);
