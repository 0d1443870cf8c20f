/** The other peers as this machine reaches them, and their clocks as their answers show them. */
import { Either } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import { get } from "./Calls.ts";
import { fail, type Finding, ok, warn } from "./Finding.ts";

const PROBE_MILLIS = 5_000;
/** A `Date` is cut to the second, and comes some time after it was written. */
const DATE_MILLIS = 1_000;

/** @param byMillis how far a clock is ahead of the one it is compared with */
export const clockFinding = (check: string, byMillis: number): Finding => {
  const message = `${byMillis > 0 ? "+" : ""}${Math.round(byMillis)} ms`;
  const off = Math.abs(byMillis);
  if (off > Limits.clockSkewMillis)
    return fail(check, `${message}: more than ${Limits.clockSkewMillis / 1000} s stops changes; look at NTP there`);
  return off > Limits.clockSkewMillis / 2 ? warn(check, `${message}; look at NTP there`) : ok(check, message);
};

const peerFindings = async (
  { id, url }: Config["cluster"]["peers"][number],
  tls: PeerClientTls,
): Promise<ReadonlyArray<Finding>> => {
  const check = `way to peer ${id}`;
  const sentAt = Date.now();
  const answered = await get(`${url}/peer/v1/doctor`, tls, PROBE_MILLIS);
  const receivedAt = Date.now();
  if (Either.isLeft(answered)) return [warn(check, `${url}: ${answered.left}`)];
  const { status, text, date } = answered.right;
  if (status !== 404 || !text.includes("There is no such resource here."))
    return [fail(check, `${url} is not the peer API of this program; correct cluster.peers`)];
  if (date === undefined) return [ok(check, url)];
  // It was somewhere in [date, date + 1 s) there, and between these two moments here.
  const ahead = date > receivedAt ? date - receivedAt : Math.min(0, date + DATE_MILLIS - sentAt);
  return [ok(check, url), clockFinding(`clock of peer ${id}`, ahead)];
};

/** Calls every other peer of a configuration at its peer API, without a token and without a message. */
export const otherPeersFindings = async ({ cluster }: Config, tls: PeerClientTls): Promise<ReadonlyArray<Finding>> =>
  (await Promise.all(cluster.peers.map((each) => peerFindings(each, tls)))).flat();
