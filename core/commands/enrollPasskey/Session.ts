/**
 * An enrollment session: what the writer pins when a registrar asks for options,
 * and every member keeps (contract 2.5). It holds the hash of the invitation,
 * never the invitation; it holds no lock and authorizes nothing by itself, so
 * one phase of mirroring suffices (protocol.md 4e).
 */
import { bytes, digest, list, oneOf, record, text, type TypeOf, uint } from "../../codec/Codec.ts";
import { kept } from "../../codec/Versioned.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import { metadataCodec } from "../../credential/Metadata.ts";
import { actorCodec, requestLineCodec } from "../../protocol/Proposal.ts";

const INVITATION_TAG = "CUSTODY_INVITATION_V1";
/** A member's acknowledgement that it keeps a session. */
export const SESSION_ACK = "Session.ACK" as const;
const SESSION_TAG = "CUSTODY_SESSION_V1";

/** More than a configuration may list. */
const ORIGINS = 64;
/** Scheme, the longest domain, a port. */
const ORIGIN_BYTES = 512;
const DOMAIN_BYTES = 253;

export const sessionCodec = kept(
  record({
    clusterId: digest,
    epoch: uint,
    topologyDigest: digest,
    configDigest: digest,
    writer: uint,
    /** The hash of the invitation; it cannot authorize a finish. */
    registrationId: digest,
    id: text(Limits.approverIdCharacters),
    metadata: metadataCodec,
    rpId: text(DOMAIN_BYTES),
    /** Sorted. */
    origins: list(text(ORIGIN_BYTES), ORIGINS),
    algorithm: oneOf(["ES256"]),
    challenge: bytes(Limits.challengeBytes),
    userHandle: bytes(Limits.challengeBytes),
    registrar: actorCodec,
    request: requestLineCodec,
    /** The one request it was made for, as its entry peer names it: two equal requests get two sessions. */
    requestId: text(128),
    entryPeer: uint,
    createdAt: uint,
    expiresAt: uint,
    /** The recorded incarnation of every member, in member order: a restore of any of them makes the session void. */
    incarnations: list(uint, Limits.members),
  }),
);
export type Session = TypeOf<typeof sessionCodec>;

/** The subject of a member's acknowledgement. */
export const sessionDigest = (crypto: Crypto, session: Session): Digest =>
  crypto.digest(SESSION_TAG, sessionCodec, session);

/** The name of a session, derived from the secret that finishes it. */
export const registrationIdOf = (crypto: Crypto, invitation: Uint8Array): Digest =>
  crypto.digest(INVITATION_TAG, bytes(Limits.challengeBytes), invitation);
