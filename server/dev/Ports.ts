/** Ports of a development cluster, all on 127.0.0.1. */
import { createServer, type Server } from "node:net";
import { Effect } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";
import type { ClusterPeer } from "./ClusterFile.ts";

/** The peer API of a peer listens this far above its public one. */
export const peerPortOffset = 100;

const host = "127.0.0.1";

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });

const close = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));

/** As many different free ports as asked for. They are free now; nothing holds them afterwards. */
export const freePorts = (count: number): Effect.Effect<ReadonlyArray<number>, CliFailure> =>
  Effect.tryPromise({
    try: async () => {
      // All are open at once, so that the system cannot give one out twice.
      const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
      const ports = servers.map((server) => {
        const address = server.address();
        return typeof address === "object" && address !== null ? address.port : 0;
      });
      await Promise.all(servers.map(close));
      return ports;
    },
    catch: () => usageFailure("the system gave no free ports on 127.0.0.1"),
  });

const faultOf = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE") return "is taken by another program";
  return code === "EACCES" ? "may not be opened by this user" : "cannot be opened";
};

const checkPort = (port: number, what: string) =>
  Effect.tryPromise({
    try: async () => close(await listen(port)),
    catch: (cause) => `port ${port} (${what}) ${faultOf(cause)}`,
  });

/** Fails, naming every port that cannot be had and what it was for. */
export const checkPorts = (peers: ReadonlyArray<ClusterPeer>): Effect.Effect<void, CliFailure> =>
  Effect.validateAll(
    peers.flatMap(({ id, httpPort, peerPort }) => [
      { port: httpPort, what: `public API of peer ${id}` },
      { port: peerPort, what: `peer API of peer ${id}` },
    ]),
    ({ port, what }) => checkPort(port, what),
    { discard: true },
  ).pipe(
    Effect.mapError((faults) =>
      usageFailure(faults.join("\n"), "stop what holds it, or give another --port (0 takes free ports)"),
    ),
  );
