/** The report of a started cluster, for people and programs. */
import { resolve } from "node:path";
import { Effect, Redacted } from "effect";
import type { CliFailure } from "../cli/CliFailure.ts";
import type { StartedPeer } from "./BringUp.ts";
import type { Cluster } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { exampleCommands } from "./Example.ts";
import { peerCommand } from "./PeerCommand.ts";
import { httpUrl, peerUrl } from "./PeerConfigFile.ts";
import { writePrivateFile } from "./PrivateFile.ts";
import { shellCommand } from "./ShellWord.ts";

export interface ReadyReport {
  readonly peers: ReadonlyArray<{
    readonly id: number;
    readonly url: string;
    readonly peerUrl: string;
    readonly pid: number;
    /** The peer's configuration file. */
    readonly config: string;
    /** A shell command that brings the peer back, in the foreground and unsealed. */
    readonly restart: string;
  }>;
  /** The operator's token. */
  readonly token: string;
  readonly dataDir: string;
}

/** The report of a cluster whose peers are all ready. */
export const readyReport = (
  entry: string,
  folder: DevFolder,
  started: ReadonlyArray<StartedPeer>,
  token: Redacted.Redacted,
): ReadyReport => ({
  peers: started.map(({ peer, process }) => ({
    id: peer.id,
    url: httpUrl(peer),
    peerUrl: peerUrl(peer),
    pid: process.pid,
    config: folder.peer(peer.id).config,
    restart: shellCommand(peerCommand(entry, folder, peer.id)),
  })),
  token: Redacted.value(token),
  dataDir: folder.root,
});

/** The report once another process runs a peer. */
export const withProcess = (report: ReadyReport, peerId: number, pid: number): ReadyReport => ({
  ...report,
  peers: report.peers.map((peer) => (peer.id === peerId ? { ...peer, pid } : peer)),
});

/** Writes the report for programs: whole or not at all, readable by this user alone. */
export const writeReadyFile = (path: string, report: ReadyReport): Effect.Effect<void, CliFailure> =>
  writePrivateFile(resolve(path), `${JSON.stringify(report, undefined, 2)}\n`);

const row = (id: string, url: string, pid: string, state: string): string =>
  `  ${id.padEnd(6)}${url.padEnd(26)}${pid.padEnd(9)}${state}`;

/** The report in lines for people. */
export const readyLines = (
  folder: DevFolder,
  cluster: Cluster,
  report: ReadyReport,
  seconds: number,
): ReadonlyArray<string> => {
  const [register, read, config] = exampleCommands(folder, cluster);
  return [
    `ready in ${seconds.toFixed(1)} s`,
    "",
    row("peer", "url", "pid", "state"),
    ...report.peers.map(({ id, url, pid }) => row(String(id), url, String(pid), "ready")),
    "",
    "operator token, for 12 hours:",
    "",
    `  ${report.token}`,
    "",
    `register an approver through peer ${cluster.peers[2]?.id ?? cluster.peers.length}:`,
    "",
    `${register}`,
    "",
    "read it from peer 1:",
    "",
    `${read}`,
    "",
    "see the configuration:",
    "",
    `${config}`,
    "",
  ];
};
