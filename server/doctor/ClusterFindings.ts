/** A cluster as its peers describe themselves, compared with each other. */
import type { PeerStatus } from "../cli/PeerStatus.ts";
import { fail, type Finding, ok, warn } from "./Finding.ts";
import { clockFinding } from "./OtherPeers.ts";

const SLOW_FLUSH_MILLIS = 100;

const nameOf = ({ peerId, url }: PeerStatus): string => (peerId === null ? url : `peer ${peerId}`);

/** Who says what, where not all say the same: `0.1.0 at peer 1, peer 2; 0.2.0 at peer 3`. */
const parties = (said: ReadonlyArray<readonly [who: string, what: string]>): string | undefined => {
  const all = [...new Set(said.map(([, what]) => what))];
  if (all.length < 2) return undefined;
  return all
    .map((each) => `${each} at ${said.flatMap(([who, what]) => (what === each ? [who] : [])).join(", ")}`)
    .join("; ");
};

const known = (
  peers: ReadonlyArray<PeerStatus>,
  of: (peer: PeerStatus) => string | null,
): ReadonlyArray<readonly [string, string]> =>
  peers.flatMap((peer) => {
    const what = of(peer);
    return what === null ? [] : [[nameOf(peer), what] as const];
  });

const peerFindings = (peer: PeerStatus): ReadonlyArray<Finding> => {
  const name = nameOf(peer);
  const { reason, next, clockMillis, flushMillis, peerId, state } = peer;
  return [
    reason === null ? ok(name, "ready") : fail(name, next === null ? reason : `${reason}; ${next}`),
    ...(state !== null && state !== "UNINITIALIZED" && peerId === null
      ? [warn(name, "shows no more; use a token with service.control.system")]
      : []),
    ...(clockMillis === null ? [] : [clockFinding(`clock of ${name}`, clockMillis)]),
    ...(flushMillis === null
      ? []
      : [
          flushMillis.median >= SLOW_FLUSH_MILLIS
            ? warn(`flush at ${name}`, `${flushMillis.median} ms, and every change waits for it; look at its disk`)
            : ok(`flush at ${name}`, `${flushMillis.median} ms`),
        ]),
    ...peer.warnings.map((each) => warn(name, each)),
  ];
};

/**
 * Judges what all peers said.
 *
 * @param own the digest of a configuration file on this machine, if one was looked at
 */
export const clusterFindings = (peers: ReadonlyArray<PeerStatus>, own: string | undefined): ReadonlyArray<Finding> => {
  const versions = known(peers, ({ version }) => version);
  const digests = known(peers, ({ configDigest }) => configDigest);
  const differing = parties(own === undefined ? digests : [["this file", own], ...digests]);
  const mixed = parties(versions);
  const numbers = known(peers, ({ peerId }) => (peerId === null ? null : String(peerId)));
  const isRepeated = new Set(numbers.map(([, id]) => id)).size < numbers.length;
  return [
    ...peers.flatMap(peerFindings),
    ...(isRepeated ? [fail("peers", "two addresses lead to one peer; name every peer once")] : []),
    ...(versions.length === 0
      ? []
      : [
          mixed === undefined
            ? ok("versions", versions[0]?.[1] ?? "")
            : warn("versions", `${mixed}; finish the upgrade`),
        ]),
    ...(digests.length === 0
      ? []
      : [
          differing === undefined
            ? ok("shared configuration", digests[0]?.[1] ?? "")
            : fail(
                "shared configuration",
                `differs: ${differing}; compare the files, and restart the peer that is wrong`,
              ),
        ]),
  ];
};
