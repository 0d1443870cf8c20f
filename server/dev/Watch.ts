/** Tells when a peer ends and when it is back. Nothing is restarted: that is for the person who watches. */
import { Effect, Schedule } from "effect";
import { printErrorLines } from "../cli/Output.ts";
import type { StartedPeer } from "./BringUp.ts";
import type { DevFolder } from "./DevFolder.ts";
import { lastLogLines } from "./PeerProcess.ts";
import { runningPid } from "./PidFile.ts";
import type { ReadyReport } from "./ReadyReport.ts";

const pollMillis = 500;

const goneLines = (
  folder: DevFolder,
  report: ReadyReport,
  { peer, process }: StartedPeer,
  pid: number,
): ReadonlyArray<string> => {
  const own = pid === process.pid;
  const how = (own ? process.ending() : undefined) ?? "has ended";
  const restart = report.peers.find(({ id }) => id === peer.id)?.restart ?? "";
  // A peer's last line says why it ended; one that was killed says nothing.
  const last = own && !how.startsWith("killed") ? lastLogLines(folder.peer(peer.id), 1) : [];
  return [
    `peer ${peer.id} (process ${pid}) ${how}`,
    ...last.map((line) => `  ${line}`),
    "  to bring it back:",
    `  ${restart}`,
  ];
};

/**
 * Watches the pid files for ever, and says so when one changes.
 *
 * @param onBack called with a peer's number and its new process
 */
export const watchPeers = (
  folder: DevFolder,
  started: ReadonlyArray<StartedPeer>,
  report: ReadyReport,
  onBack: (id: number, pid: number) => Effect.Effect<void>,
): Effect.Effect<void> => {
  const seen = new Map<number, number | undefined>(started.map(({ peer, process }) => [peer.id, process.pid]));
  const look = (one: StartedPeer): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { id } = one.peer;
      const before = seen.get(id);
      const now = runningPid(folder.peer(id).pidFile);
      if (before === now) return;
      // Its end may show in the process table before this process hears of it and of its cause: the next look knows.
      if (before === one.process.pid && one.process.ending() === undefined) return;
      seen.set(id, now);
      if (before !== undefined) yield* printErrorLines(goneLines(folder, report, one, before));
      if (now === undefined) return;
      yield* onBack(id, now);
      yield* printErrorLines([`peer ${id} is back as process ${now}`]);
    });
  return Effect.suspend(() => Effect.forEach(started, look, { discard: true })).pipe(
    Effect.repeat(Schedule.spaced(pollMillis)),
    Effect.asVoid,
  );
};
