/** Which host a connection belongs to, as far as an address tells. */
import { isIPv6 } from "node:net";

const mapped = /^::ffff:(?=[0-9.]+$)/i;

/** The first four groups of an IPv6 address, in their shortest form. */
const networkOf = (address: string): string => {
  const [head = "", tail] = address.split("%", 1)[0]?.split("::", 2) ?? [];
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => "0"), ...after];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
};

/**
 * The common part of connections of one host: an IPv4 address, mapped into IPv6 or not, or the /64 network of an IPv6
 * address. Empty for a socket whose other side has gone already.
 */
export const addressKey = (address: string | undefined): string => {
  const plain = (address ?? "").replace(mapped, "");
  return isIPv6(plain) ? networkOf(plain) : plain;
};
