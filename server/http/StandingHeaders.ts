/** The headers of every answer of the public API. */
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";

/** A year, for this host alone (RFC 6797 6.1); never sent in clear, where it would mean nothing (7.2). */
const strictTransport = { "strict-transport-security": "max-age=31536000" };

/** @param socket the connection the answer goes over */
export const standingHeaders = (requestId: string, socket: Duplex): Readonly<Record<string, string>> => ({
  "x-request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  ...(socket instanceof TLSSocket ? strictTransport : {}),
});
