/** `custody dev`: a whole cluster on this machine, one process per peer. */
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Effect, Redacted, type Scope } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";
import { printErrorLines, printLines, printResult } from "../cli/Output.ts";
import { holdDirectory } from "../sqlite/StoreDirectory.ts";
import { bringUp, openAlone, type StartedPeer } from "./BringUp.ts";
import type { Cluster } from "./ClusterFile.ts";
import { type DevFolder, devFolder } from "./DevFolder.ts";
import { type DevOrder, openDevFolder, prepareCluster, withTargets } from "./DevSetup.ts";
import { runningPeers, startPeer, stopProcesses } from "./PeerProcess.ts";
import { removePidFile, runningPid, writePidFile } from "./PidFile.ts";
import { writePrivateFile } from "./PrivateFile.ts";
import { invitationExample } from "./InvitationExample.ts";
import { type ReadyReport, readyLines, readyReport, withProcess, writeReadyFile } from "./ReadyReport.ts";
import { mintToken, operatorPermissions, operatorTtlMillis } from "./Tokens.ts";
import { watchPeers } from "./Watch.ts";

export interface DevSettings extends DevOrder {
  /** The absolute path of the `custody` script, which the peers run too. */
  readonly entry: string;
  readonly data: string;
  readonly readyFile: string | undefined;
  readonly json: boolean;
}

/** Holds the folder; the kernel lets it go whichever way this process ends. */
const hold = (folder: DevFolder): Effect.Effect<void, CliFailure, Scope.Scope> =>
  Effect.gen(function* () {
    yield* holdDirectory(folder.root).pipe(
      Effect.mapError((error) => {
        if (error.reason !== "in-use") return usageFailure(error.message);
        const pid = runningPid(folder.pidFile);
        const holder = pid === undefined ? "another custody dev" : `another custody dev (process ${pid})`;
        return usageFailure(`${holder} runs on ${folder.root}`, "stop it, or give another folder as --data");
      }),
    );
    yield* Effect.acquireRelease(
      Effect.sync(() => writePidFile(folder.pidFile)),
      () => Effect.sync(() => removePidFile(folder.pidFile)),
    );
  });

const stopAll = (pids: ReadonlyArray<number>) =>
  stopProcesses(pids).pipe(
    Effect.tap((killed) =>
      killed.length === 0
        ? Effect.void
        : printErrorLines([`killed after 15 s without a clean close: process ${killed.join(", ")}`]),
    ),
  );

/** Starts all peers at once; when the scope closes, stops all processes that run peers of this folder then. */
const startPeers = (entry: string, folder: DevFolder, { peers }: Cluster) =>
  Effect.gen(function* () {
    const children: Array<StartedPeer> = [];
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        const own = children.filter(({ process }) => process.ending() === undefined).map(({ process }) => process.pid);
        const others = runningPeers(
          folder,
          peers.map(({ id }) => id),
        );
        const pids = [...new Set([...own, ...others])];
        yield* printErrorLines([`stopping ${pids.length} ${pids.length === 1 ? "peer" : "peers"}`]);
        yield* stopAll(pids);
      }),
    );
    for (const peer of peers) children.push({ peer, process: yield* startPeer(entry, folder, peer.id) });
    return children;
  });

const stopLeftovers = (folder: DevFolder, cluster: Cluster) =>
  Effect.gen(function* () {
    const left = runningPeers(
      folder,
      cluster.peers.map(({ id }) => id),
    );
    if (left.length === 0) return;
    yield* printErrorLines([`stopping peers that an earlier run left behind: process ${left.join(", ")}`]);
    yield* stopAll(left);
  });

/** The file is there while the cluster runs: a program that waits for it must not meet the one of the run before. */
const withoutReadyFile = (path: string) => {
  const remove = Effect.promise(() => rm(resolve(path), { force: true }));
  return Effect.acquireRelease(remove, () => remove);
};

const mintOperatorToken = (folder: DevFolder, cluster: Cluster) =>
  Effect.gen(function* () {
    const order = { subject: "operator", permissions: operatorPermissions, ttlMillis: operatorTtlMillis };
    const token = yield* mintToken(folder, cluster, order);
    yield* writePrivateFile(folder.operatorHeader, `X-JWT-TOKEN: ${Redacted.value(token)}\n`);
    yield* writePrivateFile(folder.operatorToken, `${Redacted.value(token)}\n`);
    return token;
  });

/** The cluster that the folder's one peer is promoted to; that peer was up once, and told its identity key. */
const withItsTargets = (
  folder: DevFolder,
  settings: DevSettings,
  alone: Cluster,
  token: Redacted.Redacted,
): Effect.Effect<Cluster, CliFailure> =>
  Effect.gen(function* () {
    if (alone.sourceKey !== undefined) return alone;
    const [peer] = alone.peers;
    const process = yield* startPeer(settings.entry, folder, peer.id);
    const sourceKey = yield* openAlone(folder, alone, { peer, process }, token).pipe(
      Effect.ensuring(stopAll([process.pid])),
    );
    const cluster = yield* withTargets(alone, settings.peers ?? alone.peers.length, sourceKey);
    return yield* prepareCluster(folder, { ...settings, peers: undefined }, cluster);
  });

/**
 * Starts the cluster of a folder, new or with its data, and runs until it is
 * interrupted; then stops every peer of the folder, restarted ones included.
 *
 * Fails with a {@link CliFailure} when the folder, the ports or a peer cannot be
 * used; the peers started by then are stopped.
 */
export const runDev = (settings: DevSettings): Effect.Effect<never, CliFailure> =>
  Effect.gen(function* () {
    const { entry, json, readyFile } = settings;
    const folder = devFolder(settings.data);
    const known = yield* openDevFolder(folder, settings);
    yield* hold(folder);
    if (readyFile !== undefined) yield* withoutReadyFile(readyFile);
    if (known !== undefined) yield* stopLeftovers(folder, known);
    const before = yield* prepareCluster(folder, settings, known);
    const token = yield* mintOperatorToken(folder, before);
    const cluster = settings.promotes === true ? yield* withItsTargets(folder, settings, before, token) : before;
    const started = yield* startPeers(entry, folder, cluster);
    if (!json) yield* printLines([`starting ${cluster.peers.length} ${cluster.peers.length === 1 ? "peer" : "peers"}`]);
    yield* bringUp(folder, cluster, started, token);
    const report = readyReport(entry, folder, started, token);
    const publish = (current: ReadyReport) =>
      readyFile === undefined ? Effect.void : writeReadyFile(readyFile, current);
    yield* publish(report);
    // Milliseconds since this process began, so the loading of the program counts.
    const seconds = performance.now() / 1000;
    if (json) yield* printResult({ json, value: report });
    else {
      yield* printLines(readyLines(folder, cluster, report, seconds));
      yield* printLines(yield* invitationExample(entry, folder, cluster, token));
      yield* printLines(["", `data and logs are in ${folder.root}; Ctrl-C stops every peer`]);
    }
    let current = report;
    yield* watchPeers(folder, started, report, (id, pid) => {
      current = withProcess(current, id, pid);
      return Effect.catchAll(publish(current), ({ message }) => printErrorLines([message]));
    });
    return yield* Effect.never;
  }).pipe(Effect.scoped);
