/** Settings of the peers of a chaos run beyond a development cluster's: TLS on both ports, token keys by URL. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import type { DevFolder } from "../../server/dev/DevFolder.ts";
import { issue } from "../http/Certificates.ts";

const PRIVATE = { mode: 0o600 };

/** Files of one listener, as its configuration names them. */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** PEM. */
  readonly certificate: string;
  /** A certificate for 127.0.0.1, written beside the peer's configuration. */
  readonly issueTo: (folder: DevFolder, slot: number) => TlsFiles & { readonly ca: string };
}

/** An authority of this run's own. */
export const makeAuthority = (): Authority => {
  const root = issue("chaos", undefined);
  return {
    certificate: root.pem,
    issueTo: (folder, slot) => {
      const { pem, key } = issue(`peer ${slot}`, root);
      const directory = join(folder.peer(slot).folder, "tls");
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const [cert, secret, ca] = ["cert.pem", "key.pem", "ca.pem"].map((name) => join(directory, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(cert, pem, PRIVATE);
      writeFileSync(secret, key.export({ type: "pkcs8", format: "pem" }), PRIVATE);
      writeFileSync(ca, root.pem, PRIVATE);
      return { cert, key: secret, ca };
    },
  };
};

/** Names the source that a peer may be promoted by. */
export const nameSource = (
  folder: DevFolder,
  slot: number,
  source: { readonly id: number; readonly "identity-key": string },
): void => {
  const { config } = folder.peer(slot);
  const settings = parse(readFileSync(config, "utf8"));
  settings.cluster.source = source;
  writeFileSync(config, stringify(settings), PRIVATE);
};

/** Changes the configuration that `custody dev` has written for a peer. */
export const settle = (
  folder: DevFolder,
  slot: number,
  { authority, keysUrl }: { readonly authority: Authority | undefined; readonly keysUrl: string },
): void => {
  const { config } = folder.peer(slot);
  const settings = parse(readFileSync(config, "utf8"));
  settings.auth.jwks = { url: keysUrl };
  if (authority !== undefined) {
    const { ca, ...files } = authority.issueTo(folder, slot);
    settings.http.tls = files;
    settings["peer-http"].tls = { ...files, ca };
  }
  writeFileSync(config, stringify(settings), PRIVATE);
};
