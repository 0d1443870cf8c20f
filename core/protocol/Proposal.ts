/**
 * What the cluster is asked to agree on: one change with its effects, computed
 * by the writer and again by every member. Its id is the digest of everything in it, so a
 * vote for the id is a vote for the bytes (protocol.md 2).
 */
import { bytes, digest, list, nullable, record, text, type TypeOf, uint } from "../codec/Codec.ts";
import { kept } from "../codec/Versioned.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";

const PROPOSAL_TAG = "CUSTODY_PROPOSAL_V1";
export const KIND_BYTES = 32;

export const actorCodec = record({
  iss: nullable(text(Limits.issuerBytes)),
  sub: text(Limits.subjectBytes),
  jti: nullable(text(Limits.tokenIdBytes)),
});
export type Actor = TypeOf<typeof actorCodec>;

/** Whether two actors are given in the same words. */
export const isSameActor = (left: Actor, right: Actor): boolean =>
  left.iss === right.iss && left.sub === right.sub && left.jti === right.jti;

export const requestLineCodec = record({ method: text(16), path: text(2048), bodyDigest: digest });
export type RequestLine = TypeOf<typeof requestLineCodec>;

export const isSameLine = (left: RequestLine, right: RequestLine): boolean =>
  left.method === right.method && left.path === right.path && left.bodyDigest === right.bodyDigest;

export const proposalCodec = kept(
  record({
    clusterId: digest,
    epoch: uint,
    seq: uint,
    topologyDigest: digest,
    configDigest: digest,
    writer: uint,
    /** The kind of its command. */
    kind: text(KIND_BYTES),
    /** Its effects, in the command's own codec: every member computes the same bytes. */
    effects: bytes(Limits.effectsBytes),
    actor: actorCodec,
    request: requestLineCodec,
    /** Its entry peer, and the request's name there: so the peer that knows the caller recognizes the proposal. */
    entryPeer: uint,
    requestId: text(Limits.requestIdCharacters),
    proposedAt: uint,
    expiresAt: uint,
    /** The recorded incarnation of every member, in member order. */
    incarnations: list(uint, Limits.members),
  }),
);
export type Proposal = TypeOf<typeof proposalCodec>;

export const proposalId = (crypto: Crypto, proposal: Proposal): Digest =>
  crypto.digest(PROPOSAL_TAG, proposalCodec, proposal);
