/**
 * What the cluster is asked to agree on: one registry mutation with its effects
 * computed once by the writer. Its id is the digest of everything in it, so a
 * vote for the id is a vote for the bytes (protocol.md 2).
 */
import { bool, digest, list, nullable, oneOf, pair, record, text, type TypeOf, uint } from "../codec/Codec.ts";
import type { Crypto } from "../Crypto.ts";
import type { Digest } from "../Digest.ts";
import { Limits } from "../Limits.ts";

const PROPOSAL_TAG = "CUSTODY_PROPOSAL_V1";

export const metadataCodec = list(
  pair(text(Limits.metadataKeyBytes), text(Limits.metadataValueBytes)),
  Limits.metadataPairs,
);

const AAGUID_CHARACTERS = 22;

/** First observations of an authenticator; they never enter a ref (contract 2.3). */
export const observationsCodec = record({
  signCount: uint,
  backupState: bool,
  /** Sorted and distinct. */
  transports: list(text(Limits.transportCharacters), Limits.transports),
  /** Unpadded Base64url. */
  aaguid: text(AAGUID_CHARACTERS),
});

export const effectsCodec = record({
  id: text(Limits.approverIdCharacters),
  ref: text(Limits.approverIdCharacters + 72),
  /** The descriptor's canonical JSON, exactly the bytes under the ref's digest. */
  descriptor: text(4 * Limits.publicKeyBytes),
  /** Canonical algorithm plus normalized key (contract 2.2.6). */
  keyIdentity: digest,
  metadata: metadataCodec,
  /** Absent at registration; the revision a replacement builds on. */
  baseRevision: nullable(uint),
  newRevision: uint,
  createdAt: uint,
  updatedAt: uint,
  registrationId: nullable(digest),
  responseDigest: nullable(digest),
  observations: nullable(observationsCodec),
  /** (rpId, credentialId) of a passkey. */
  credentialIdentity: nullable(digest),
});
export type Effects = TypeOf<typeof effectsCodec>;

export const actorCodec = record({
  iss: nullable(text(Limits.issuerBytes)),
  sub: text(Limits.subjectBytes),
  jti: nullable(text(Limits.tokenIdBytes)),
});
export type Actor = TypeOf<typeof actorCodec>;

/** Whether two say who it was in the same words. */
export const isSameActor = (left: Actor, right: Actor): boolean =>
  left.iss === right.iss && left.sub === right.sub && left.jti === right.jti;

export const requestLineCodec = record({ method: text(16), path: text(2048), bodyDigest: digest });
export type RequestLine = TypeOf<typeof requestLineCodec>;

export const isSameLine = (left: RequestLine, right: RequestLine): boolean =>
  left.method === right.method && left.path === right.path && left.bodyDigest === right.bodyDigest;

export const proposalCodec = record({
  clusterId: digest,
  epoch: uint,
  seq: uint,
  topologyDigest: digest,
  configDigest: digest,
  writer: uint,
  kind: oneOf(["REGISTER", "FINISH", "METADATA"]),
  effects: effectsCodec,
  actor: actorCodec,
  request: requestLineCodec,
  /** Where the request came in, and its name there: so the peer that knows its caller knows what it has led to. */
  entryPeer: uint,
  requestId: text(Limits.requestIdCharacters),
  proposedAt: uint,
  expiresAt: uint,
  /** The recorded incarnation of every member, in member order. */
  incarnations: list(uint, Limits.members),
});
export type Proposal = TypeOf<typeof proposalCodec>;

export const proposalId = (crypto: Crypto, proposal: Proposal): Digest =>
  crypto.digest(PROPOSAL_TAG, proposalCodec, proposal);

/** Held by whoever registers a key. */
export const keyLock = (keyIdentity: Digest): string => `key:${keyIdentity}`;
/** Held by whoever registers an approver. */
export const refLock = (ref: string): string => `ref:${ref}`;
/** Held by whoever changes an approver's metadata, its registration included. */
export const metadataLock = (ref: string): string => `meta:${ref}`;

/** Held by whoever registers a credential of an authenticator. */
export const credentialLock = (credentialIdentity: Digest): string => `cred:${credentialIdentity}`;
/** Held by the one response that may complete an enrollment. */
export const sessionLock = (registrationId: Digest): string => `session:${registrationId}`;

const locks = new WeakMap<Proposal, ReadonlyArray<string>>();

const namesOf = ({ kind, effects }: Proposal): ReadonlyArray<string> => {
  const { keyIdentity, ref, credentialIdentity, registrationId } = effects;
  if (kind === "METADATA") return [metadataLock(ref)];
  const names = [keyLock(keyIdentity), refLock(ref), metadataLock(ref)];
  if (credentialIdentity !== undefined) names.push(credentialLock(credentialIdentity));
  if (registrationId !== undefined) names.push(sessionLock(registrationId));
  return names;
};

/** The exclusive locks a proposal holds while it is undecided (protocol.md 3.2). */
export const locksOf = (proposal: Proposal): ReadonlyArray<string> => {
  const known = locks.get(proposal);
  if (known !== undefined) return known;
  const names = namesOf(proposal);
  locks.set(proposal, names);
  return names;
};
