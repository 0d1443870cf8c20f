/** Which hosts never leave this machine. */
import { isIPv4 } from "node:net";

/**
 * Whether a host of a listener or URL is a loopback address: 127.0.0.0/8, ::1
 * (RFC 1122 3.2.1.3, RFC 4291 2.5.3) or the name `localhost` (RFC 6761 6.3).
 * Takes the form a URL shows ("[::1]") as well as the bare address.
 */
export const isLoopbackHost = (host: string): boolean => {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  if (isIPv4(bare)) return bare.startsWith("127.");
  return bare === "::1" || bare.toLowerCase() === "localhost";
};
