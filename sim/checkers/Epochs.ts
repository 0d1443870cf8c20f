/** Epochs as checkers know them: all that were ever durable, whoever has seen the newest. */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { type Membership, membershipOf, type Topology } from "../../core/protocol/Topology.ts";
import { maskOf, type PeerMask } from "./PeerMask.ts";

/** The chain of epochs with a topology that a peer has pinned. */
export const newerOf = (crypto: Crypto, known: Membership | undefined, topology: Topology): Membership | undefined =>
  topology.epoch > (known?.topology.epoch ?? 0) ? membershipOf(crypto, topology, known) : known;

/** The epoch whose members have to have signed what is said of a slot. */
export const epochAt = (newest: Membership | undefined, seq: number): Membership | undefined =>
  newest === undefined || newest.topology.firstSlot <= seq ? newest : epochAt(newest.before, seq);

/** The members of an epoch among these peers; all of them before there is an epoch. */
export const maskOfMembers = (membership: Membership | undefined, everyone: PeerMask): PeerMask =>
  membership === undefined
    ? everyone
    : everyone & membership.peerIds.reduce((mask, peerId) => mask | maskOf(peerId), 0);

/** The writers of all epochs, the newest first. */
export const writersOf = (membership: Membership | undefined): ReadonlyArray<number> =>
  membership === undefined ? [] : [membership.writer, ...writersOf(membership.before)];
