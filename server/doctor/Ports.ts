/** Whether the ports of a configuration are free, or taken by this very peer. */
import { createServer } from "node:net";
import { Either } from "effect";
import type { ListenerConfig } from "../config/ConfigSchema.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { get } from "./Calls.ts";
import { fail, type Finding, ok, warn } from "./Finding.ts";

const PROBE_MILLIS = 3_000;

/** Why an address cannot be listened on; undefined where it can. */
const listenFault = ({ host, port }: Pick<ListenerConfig, "host" | "port">): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown reason"));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });

/** An address that this machine can call: "any address" is no destination. */
const callable = (host: string): string => {
  const named = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return named.includes(":") ? `[${named}]` : named;
};

/** What a peer answers without a token, at each of its listeners. */
const signs = {
  http: { path: "/v1/custody/system/health", status: 200, text: '{"status":"ok"}' },
  "peer-http": { path: "/peer/v1/doctor", status: 404, text: "There is no such resource here." },
  metrics: { path: "/metrics", status: 200, text: "custody_" },
} as const;

/**
 * Looks at one listener's port.
 *
 * @param name its section of the configuration
 * @param tls what this peer shows and trusts in calls to peers; nothing secret is sent, so any certificate will do
 */
export const portFinding = async (
  name: keyof typeof signs,
  at: Pick<ListenerConfig, "host" | "port" | "tls">,
  tls: PeerClientTls,
): Promise<Finding> => {
  const check = `${name}.port`;
  if (at.port === 0) return ok(check, "0: any free port is taken");
  const fault = await listenFault(at);
  if (fault === undefined) return ok(check, `${at.port} is free`);
  if (fault === "EACCES") return fail(check, `${at.port}: this user may not listen there; choose a port from 1024 on`);
  if (fault !== "EADDRINUSE")
    return fail(`${name}.host`, `cannot be listened on (${fault}); name an address of this machine`);
  const { path, status, text } = signs[name];
  const url = `${at.tls === undefined ? "http" : "https"}://${callable(at.host)}:${at.port}${path}`;
  const answered = await get(url, { ...tls, rejectUnauthorized: false }, PROBE_MILLIS);
  const isPeer = Either.isRight(answered) && answered.right.status === status && answered.right.text.includes(text);
  // Some ask callers for a certificate of an authority that is not that of peers.
  if (Either.isLeft(answered) && answered.left.startsWith("ERR_SSL_"))
    return warn(check, `${at.port} is in use by what asks for another certificate; make sure that it is this peer`);
  return isPeer
    ? ok(check, `${at.port}: a peer listens there already`)
    : fail(check, `${at.port} is in use by another program; stop that or choose another port`);
};
