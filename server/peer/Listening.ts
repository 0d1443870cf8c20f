/** Opening and closing a listener. */
import type { Server } from "node:http";
import { Server as HttpsServer } from "node:https";
import { Effect } from "effect";
import type { ListenerConfig } from "../config/ConfigSchema.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import { type StartError, startError } from "./StartError.ts";

/** A server and what watches its connections. */
export interface Guarded {
  readonly server: Server;
  readonly guard: ConnectionGuard;
}

const listenFault = (name: string, { code }: NodeJS.ErrnoException): StartError => {
  if (code === "EADDRINUSE")
    return startError(`${name}.port: is in use; stop the other program or choose another port`);
  if (code === "EACCES") return startError(`${name}.port: this user may not listen there; choose a port from 1024 on`);
  return startError(
    `${name}.host: cannot be listened on (${code ?? "unknown reason"}); name an address of this machine`,
  );
};

const urlOf = (server: Server, { host }: Pick<ListenerConfig, "host">): string => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const scheme = server instanceof HttpsServer ? "https" : "http";
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
};

/**
 * Listens, and gives the URL with the real port.
 *
 * @param name the section of the configuration, for the error
 */
export const listen = (
  name: string,
  at: Pick<ListenerConfig, "host" | "port">,
  { server, guard }: Guarded,
): Effect.Effect<string, StartError> =>
  Effect.async((resume) => {
    const onError = (error: NodeJS.ErrnoException): void => resume(Effect.fail(listenFault(name, error)));
    server.once("error", onError);
    server.listen({ host: at.host, port: at.port }, () => {
      server.off("error", onError);
      // Accepting can fail later, for want of descriptors; the next connection is tried again.
      server.on("error", () => guard.report("notAccepted"));
      resume(Effect.succeed(urlOf(server, at)));
    });
  });

/** Stops accepting, waits for requests under way up to `drainMillis`, and closes what is left. */
export const closeListener = ({ server, guard }: Guarded, drainMillis: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => guard.closeAll(), drainMillis);
    server.close(() => {
      clearTimeout(timer);
      resume(Effect.void);
    });
    server.closeIdleConnections();
    guard.closeHandshakes();
  });
