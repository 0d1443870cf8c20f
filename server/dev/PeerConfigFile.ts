/** The configuration a development peer is started with. */
import { Effect } from "effect";
import { stringify } from "yaml";
import type { CliFailure } from "../cli/CliFailure.ts";
import { type Cluster, type ClusterPeer, SOURCE } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { makePrivateFolder, writePrivateFile } from "./PrivateFile.ts";

const host = "127.0.0.1";

/** The public address of a peer. */
export const httpUrl = ({ httpPort }: ClusterPeer): string => `http://${host}:${httpPort}`;
/** The address at which other peers reach a peer. */
export const peerUrl = ({ peerPort }: ClusterPeer): string => `http://${host}:${peerPort}`;

/** Passkeys are made where browsers open the peers: by name, because an address cannot be a relying party. */
const webauthn = ({ peers }: Cluster) => ({
  enabled: true,
  "rp-id": "localhost",
  "rp-name": "custody dev",
  // As browsers send it: without the port that the scheme has anyway.
  origins: peers.map(({ httpPort }) => new URL(`http://localhost:${httpPort}`).origin),
  "registration-ttl": "10m",
});

/** All callers of a development peer have the same address. */
const limits = { "connections-per-address": 2048, "body-bytes-per-address": "64MiB", "body-bytes-per-actor": "64MiB" };

/** The unseal shares of a development peer, and how many of them it takes. */
const seal = { shares: 3, threshold: 2 };

const configText = (cluster: Cluster, peer: ClusterPeer): string =>
  stringify({
    peer: { "data-dir": "data" },
    http: { host, port: peer.httpPort },
    "peer-http": { host, port: peer.peerPort },
    cluster: {
      peers: cluster.peers.filter(({ id }) => id !== peer.id).map((other) => ({ id: other.id, url: peerUrl(other) })),
      ...(cluster.sourceKey === undefined || peer.id === SOURCE
        ? {}
        : { source: { id: SOURCE, "identity-key": cluster.sourceKey } }),
    },
    auth: {
      audience: cluster.audience,
      issuer: cluster.issuer,
      jwks: { file: "../dev-secrets/issuer/jwks.json" },
    },
    seal,
    webauthn: webauthn(cluster),
    limits,
    development: true,
  });

/** Writes `config.yaml` into the folder of every peer. */
export const writePeerConfigs = (folder: DevFolder, cluster: Cluster): Effect.Effect<void, CliFailure> =>
  Effect.forEach(
    cluster.peers,
    (peer) =>
      Effect.gen(function* () {
        const { folder: path, config } = folder.peer(peer.id);
        yield* makePrivateFolder(path);
        yield* writePrivateFile(config, `# Written by custody dev at every start.\n${configText(cluster, peer)}`);
      }),
    { discard: true },
  );
