/** Where everything of a development cluster lies. */
import { join, resolve } from "node:path";

export interface DevPeerFolder {
  readonly folder: string;
  readonly config: string;
  readonly pidFile: string;
  readonly log: string;
  /** The unseal shares of this peer, as init answered them. */
  readonly shares: string;
}

export interface DevFolder {
  readonly root: string;
  /** Marks the folder as a development cluster, and says which peers it has. */
  readonly cluster: string;
  /** The process that runs `custody dev` here. */
  readonly pidFile: string;
  readonly secrets: string;
  readonly bootstrap: string;
  readonly issuer: string;
  /** The operator's token as a header line, for `curl -H @FILE`. */
  readonly operatorHeader: string;
  /** The same token alone, for `--token-file FILE`. */
  readonly operatorToken: string;
  readonly peer: (id: number) => DevPeerFolder;
}

/** The name of the pid file beside a peer's configuration. */
export const peerPidFileName = "peer.pid";

/** The layout of a folder; every path absolute, nothing opened. */
export const devFolder = (directory: string): DevFolder => {
  const root = resolve(directory);
  const secrets = join(root, "dev-secrets");
  return {
    root,
    cluster: join(root, "cluster.json"),
    pidFile: join(root, "dev.pid"),
    secrets,
    bootstrap: join(secrets, "bootstrap"),
    issuer: join(secrets, "issuer"),
    operatorHeader: join(secrets, "operator.header"),
    operatorToken: join(secrets, "operator.token"),
    peer: (id) => {
      const folder = join(root, `peer-${id}`);
      return {
        folder,
        config: join(folder, "config.yaml"),
        pidFile: join(folder, peerPidFileName),
        log: join(folder, "peer.log"),
        shares: join(secrets, `peer-${id}.shares.json`),
      };
    },
  };
};
