/**
 * The versions that a peer speaks: it can read messages of these versions, and write them. Every envelope names those
 * of its sender. Signed or hashed data for all members is made in the newest version that all of them speak
 * (docs/decisions/0027-versions.md).
 */
import { type Made, NEWEST } from "../codec/Versioned.ts";
import type { PeerId } from "./Topology.ts";
import type { Step } from "./Step.ts";

/** All from the lowest to the highest. */
export interface Versions {
  readonly lowest: number;
  readonly highest: number;
}

/** The versions of this program: its own and the one before, if there was one. */
export const VERSIONS: Versions = { lowest: Math.max(1, NEWEST - 1), highest: NEWEST };

export const isSpoken = ({ lowest, highest }: Versions, { version }: Made): boolean =>
  version >= lowest && version <= highest;

/** The newest version that two peers speak; undefined where there is none. */
export const commonVersion = (own: Versions, other: Versions): number | undefined => {
  const newest = Math.min(own.highest, other.highest);
  return newest < Math.max(own.lowest, other.lowest) ? undefined : newest;
};

/** The version of a message to a peer: the oldest while nothing is known of it, because most can read that. */
export const versionFor = (own: Versions, other: Versions | undefined): number =>
  (other && commonVersion(own, other)) ?? own.lowest;

/**
 * The version of a message that there is from some version on; undefined for a peer that has none. Where nothing is
 * known of the peer it is said anyway: one that cannot read it says so, and one that can is not kept waiting.
 */
export const versionFrom = (first: number, own: Versions, other: Versions | undefined): number | undefined => {
  const usual = versionFor(own, other);
  if (usual >= first) return usual;
  return other === undefined ? first : undefined;
};

/** The newest version that this peer and all of these speak, as far as known. */
export const versionForAll = (
  own: Versions,
  others: Iterable<PeerId>,
  spoken: ReadonlyMap<PeerId, Versions>,
): number => {
  let version = own.highest;
  for (const peerId of others) version = Math.min(version, versionFor(own, spoken.get(peerId)));
  return version;
};

const said = ({ lowest, highest }: Versions): string =>
  lowest === highest ? `version ${highest}` : `versions ${lowest} to ${highest}`;

/** Why a member shares no version with this peer, or undefined. */
export const versionFault = (own: Versions, other: Versions | undefined): string | undefined =>
  other === undefined || commonVersion(own, other) !== undefined
    ? undefined
    : `it speaks ${said(other)} of the protocol, this peer ${said(own)}`;

/** Remembers the versions that another peer says it speaks; returns whether they are news. */
export const noteVersions = (step: Step, from: PeerId, versions: Versions | undefined): boolean => {
  const known = step.state.cluster.spoken.get(from);
  if (versions === undefined || (known?.lowest === versions.lowest && known.highest === versions.highest)) return false;
  step.edit("cluster", "spoken").set(from, versions);
  return true;
};
