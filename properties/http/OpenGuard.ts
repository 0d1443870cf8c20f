/** A guard that admits all callers, for tests of the code behind it. */
import { ConnectionGuard } from "../../server/net/ConnectionGuard.ts";
import type { ConnectionLimits } from "../../server/net/ConnectionLimits.ts";

/** So long that none of these ends in a test. */
const never = 600_000;

export const openLimits: ConnectionLimits = {
  connections: 100,
  connectionsPerAddress: 100,
  provenConnections: 100,
  requestsUnderWay: 100,
  handshakeMillis: never,
  headerMillis: never,
  requestMillis: never,
  writeMillis: never,
  idleMillis: never,
};

export const openGuard = (): ConnectionGuard =>
  new ConnectionGuard(
    openLimits,
    () => undefined,
    () => performance.now(),
  );
