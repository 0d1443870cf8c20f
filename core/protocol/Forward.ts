/**
 * A caller's original request as it travels between peers, attested by the peer
 * it entered through. It is the evidence every member judges for itself; it
 * holds a bearer token, so it stays in memory and never reaches a disk.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { bytes, digest, nullable, record, signature, text, type TypeOf, uint } from "../codec/Codec.ts";
import type { Crypto, Signer } from "../Crypto.ts";
import type { Digest } from "../Digest.ts";
import { Limits } from "../Limits.ts";
import type { requestLineCodec } from "./Proposal.ts";
import type { Membership } from "./Topology.ts";

const FORWARD_TAG = "CUSTODY_FORWARD_V1";
const REQUEST_TAG = "CUSTODY_REQUEST_V1";
const ACTOR_TAG = "CUSTODY_ACTOR_V1";

const TOKEN_BYTES = 16 * 1024;

const tokenCodec = text(TOKEN_BYTES);

/** Method, path, If-Match and raw body: what the caller asked, to the byte. */
const callCodec = record({
  method: text(16),
  path: text(2048),
  ifMatch: nullable(text(Limits.ifMatchBytes)),
  rawBody: bytes(Limits.requestBodyBytes),
});
export type Call = TypeOf<typeof callCodec>;

export const forwardCodec = record({
  /** Unique at the entry peer; not the caller's X-Request-Id. */
  requestId: text(128),
  entryPeer: uint,
  call: callCodec,
  token: tokenCodec,
  receivedAt: uint,
  attestation: signature,
});
export type Forward = TypeOf<typeof forwardCodec>;

const attestedCodec = record({
  topologyDigest: digest,
  requestId: text(128),
  entryPeer: uint,
  requestDigest: digest,
  actorDigest: digest,
  receivedAt: uint,
});

const attested = (crypto: Crypto, topologyDigest: Digest, forward: Omit<Forward, "attestation">) => ({
  topologyDigest,
  requestId: forward.requestId,
  entryPeer: forward.entryPeer,
  requestDigest: crypto.digest(REQUEST_TAG, callCodec, forward.call),
  actorDigest: crypto.digest(ACTOR_TAG, tokenCodec, forward.token),
  receivedAt: forward.receivedAt,
});

/** The request as proposals and audit rows name it. */
export const requestLineOf = (crypto: Crypto, { method, path, rawBody }: Call): TypeOf<typeof requestLineCodec> => ({
  method,
  path,
  // The brand is the length: SHA-256 has 32 bytes.
  bodyDigest: bytesToHex(crypto.sha256(rawBody)) as Digest,
});

/** Attests a request that entered here. */
export const attest = (
  crypto: Crypto,
  signer: Signer,
  membership: Membership,
  forward: Omit<Forward, "attestation">,
): Forward => ({
  ...forward,
  attestation: signer.sign(FORWARD_TAG, attestedCodec, attested(crypto, membership.digest, forward)),
});

/** Whether the entry peer named in it vouches for exactly this request. */
export const isAttested = (crypto: Crypto, membership: Membership, forward: Forward): boolean => {
  const key = membership.keys.get(forward.entryPeer);
  return (
    key !== undefined &&
    crypto.verify(key, FORWARD_TAG, attestedCodec, attested(crypto, membership.digest, forward), forward.attestation)
  );
};

/** Names a request in the whole cluster. */
export const requestKey = ({ entryPeer, requestId }: Pick<Forward, "entryPeer" | "requestId">): string =>
  `${entryPeer}/${requestId}`;
