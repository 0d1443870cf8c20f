/** Prepares the folder of a development cluster: which peers, which ports, their secrets and configurations. */
import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { Effect } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";
import { type Cluster, mostPeers, readCluster, writeCluster } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { writePeerConfigs } from "./PeerConfigFile.ts";
import { checkPorts, freePorts, peerPortOffset } from "./Ports.ts";
import { makePrivateFolder, writePrivateFile } from "./PrivateFile.ts";

export interface DevOrder {
  /** Peers of a new cluster; of an existing one, undefined or its number. */
  readonly peers: number | undefined;
  /** Whether those peers become a cluster with the one that the folder has. */
  readonly promotes?: boolean;
  /** The first public port, 0 for free ones; undefined keeps what the folder says. */
  readonly port: number | undefined;
}

const defaultPeers = 3;
const defaultPort = 7300;
const name = "custody-dev";

const existing = (path: string) => Effect.option(Effect.tryPromise(() => stat(path)));

/** A new cluster goes into a folder that is missing or empty, so that no other files are taken for it. */
const checkFresh = (folder: DevFolder): Effect.Effect<void, CliFailure> =>
  Effect.tryPromise(() => readdir(folder.root)).pipe(
    Effect.orElseSucceed(() => []),
    Effect.filterOrFail(
      // Its lock and pid file are there already when a start was cut short.
      (names) => names.every((each) => each.startsWith("custody.lock") || each.startsWith("dev.pid")),
      () => usageFailure(`${folder.root} holds other files; give an empty or a new folder as --data`),
    ),
  );

const pickPorts = (count: number, port: number): Effect.Effect<ReadonlyArray<number>, CliFailure> =>
  port === 0
    ? freePorts(2 * count)
    : Effect.succeed(
        Array.from(
          { length: 2 * count },
          (_, index) => port + (index < count ? index : peerPortOffset + index - count),
        ),
      );

const withPorts = (count: number, port: number): Effect.Effect<Cluster, CliFailure> =>
  Effect.gen(function* () {
    const ports = yield* pickPorts(count, port);
    const [first, ...others] = Array.from({ length: count }, (_, index) => ({
      id: index + 1,
      httpPort: ports[index] ?? 0,
      peerPort: ports[count + index] ?? 0,
    }));
    if (first === undefined) return yield* usageFailure("--peers: a cluster has at least one peer");
    return { version: 1, audience: name, issuer: name, peers: [first, ...others] } satisfies Cluster;
  });

const checkOrder = ({ peers, port }: DevOrder): Effect.Effect<void, CliFailure> => {
  if (peers !== undefined && !(peers >= 1 && peers <= mostPeers)) {
    return Effect.fail(usageFailure(`--peers: give a number from 1 to ${mostPeers}`));
  }
  const highest = 65_535 - peerPortOffset - mostPeers;
  return port === undefined || (port >= 0 && port <= highest)
    ? Effect.void
    : Effect.fail(usageFailure(`--port: give a number from 0 to ${highest}; 0 takes free ports`));
};

const checkPromotion = (
  folder: DevFolder,
  { peers, port }: DevOrder,
  cluster: Cluster | undefined,
): Effect.Effect<void, CliFailure> => {
  if (cluster === undefined)
    return Effect.fail(usageFailure(`${folder.root} has no peer to promote; begin with custody dev --peers 1`));
  if (port !== undefined) return Effect.fail(usageFailure("--port: the folder keeps its ports; leave it out"));
  if (cluster.sourceKey === undefined && cluster.peers.length > 1)
    return Effect.fail(usageFailure(`${folder.root} holds a cluster already; only a peer that is alone is promoted`));
  const held = cluster.sourceKey === undefined ? undefined : cluster.peers.length;
  if (peers === undefined || peers < 2 || peers > mostPeers)
    return Effect.fail(usageFailure(`--peers: give a number from 2 to ${mostPeers}`));
  return held === undefined || held === peers
    ? Effect.void
    : Effect.fail(usageFailure(`--peers: the promotion of this folder is to ${held} peers, and cannot be changed`));
};

/**
 * Opens the root of a development folder, before its lock is taken. Fails on an
 * order out of bounds and on a folder that holds anything else.
 */
export const openDevFolder = (folder: DevFolder, order: DevOrder): Effect.Effect<Cluster | undefined, CliFailure> =>
  Effect.gen(function* () {
    yield* checkOrder(order);
    const cluster = yield* readCluster(folder);
    if (cluster === undefined) yield* checkFresh(folder);
    if (order.promotes === true) yield* checkPromotion(folder, order, cluster);
    else if (cluster !== undefined && order.peers !== undefined && order.peers !== cluster.peers.length) {
      const held = `${folder.root} holds a cluster of ${cluster.peers.length}`;
      return yield* usageFailure(`${held}; leave --peers out, or give another folder as --data`);
    }
    yield* makePrivateFolder(folder.root);
    return cluster;
  });

/** The folder's one peer, and beside it those that it is promoted to a cluster with, on ports after its own. */
export const withTargets = (
  { peers: [source], ...rest }: Cluster,
  total: number,
  sourceKey: string,
): Effect.Effect<Cluster, CliFailure> =>
  Effect.gen(function* () {
    const count = total - 1;
    const isUsual = source.peerPort === source.httpPort + peerPortOffset;
    const ports = yield* pickPorts(count, isUsual ? source.httpPort + 1 : 0);
    const targets = Array.from({ length: count }, (_, index) => ({
      id: index + 2,
      httpPort: ports[index] ?? 0,
      peerPort: ports[count + index] ?? 0,
    }));
    return { ...rest, peers: [source, ...targets], sourceKey };
  });

/**
 * Decides the ports and writes everything the peers read at start. Call it with
 * the folder's lock held and none of its peers running.
 */
export const prepareCluster = (
  folder: DevFolder,
  order: DevOrder,
  known: Cluster | undefined,
): Effect.Effect<Cluster, CliFailure> =>
  Effect.gen(function* () {
    const cluster =
      known === undefined || order.port !== undefined
        ? yield* withPorts(known?.peers.length ?? order.peers ?? defaultPeers, order.port ?? defaultPort)
        : known;
    yield* checkPorts(cluster.peers);
    yield* makePrivateFolder(folder.secrets);
    if ((yield* existing(folder.bootstrap))._tag === "None") {
      yield* writePrivateFile(folder.bootstrap, `${randomBytes(48).toString("base64url")}\n`);
    }
    yield* writePeerConfigs(folder, cluster);
    yield* writeCluster(folder, cluster);
    return cluster;
  });
