/**
 * A caller's original request as it travels between peers, attested by the peer
 * it entered through. It is the evidence every member judges for itself; it
 * holds a bearer token, so it stays in memory and never reaches a disk.
 *
 * Members get it from the writer only, in an envelope the writer signed. Where
 * the writer is the entry peer itself, that signature is enough, and the request
 * carries no other.
 */
import { bytes, digest, nullable, record, signature, text, type TypeOf, uint } from "../codec/Codec.ts";
import { kept } from "../codec/Versioned.ts";
import type { Crypto, Signer } from "../crypto/Crypto.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import { memoized } from "../base/Memo.ts";
import type { RequestLine } from "./Proposal.ts";
import { momentCodec } from "./Moment.ts";
import type { Membership } from "./Topology.ts";

const FORWARD_TAG = "CUSTODY_FORWARD_V1";
const REQUEST_TAG = "CUSTODY_REQUEST_V1";
const ACTOR_TAG = "CUSTODY_ACTOR_V1";

const TOKEN_BYTES = 16 * 1024;

const tokenCodec = text(TOKEN_BYTES);

/** Method, path, If-Match and raw body: the call, to the byte. */
const callCodec = record({
  method: text(16),
  path: text(2048),
  ifMatch: nullable(text(Limits.ifMatchBytes)),
  rawBody: bytes(Limits.requestBodyBytes),
});
export type Call = TypeOf<typeof callCodec>;

export const forwardCodec = kept(
  record({
    /** Unique at the entry peer; not the caller's X-Request-Id. */
    requestId: text(Limits.requestIdCharacters),
    entryPeer: uint,
    call: callCodec,
    token: tokenCodec,
    /** When it came in: by the entry peer's wall clock, to compare with the proposal's, and by its process's clock. */
    receivedAt: uint,
    arrival: momentCodec,
    /** The entry peer's signature; absent exactly where the writer is the entry peer. */
    attestation: nullable(signature),
  }),
);
export type Forward = TypeOf<typeof forwardCodec>;

const attestedCodec = kept(
  record({
    topologyDigest: digest,
    requestId: text(Limits.requestIdCharacters),
    entryPeer: uint,
    requestDigest: digest,
    actorDigest: digest,
    receivedAt: uint,
    arrival: momentCodec,
  }),
);

const attested = (crypto: Crypto, topologyDigest: Digest, forward: Omit<Forward, "attestation">) => ({
  version: forward.version,
  topologyDigest,
  requestId: forward.requestId,
  entryPeer: forward.entryPeer,
  requestDigest: crypto.digest(REQUEST_TAG, callCodec, forward.call),
  actorDigest: crypto.digest(ACTOR_TAG, tokenCodec, forward.token),
  receivedAt: forward.receivedAt,
  arrival: forward.arrival,
});

/** The request as proposals and audit rows name it. */
export const requestLineOf = memoized(
  ({ method, path, rawBody }: Call, crypto: Crypto): RequestLine => ({
    method,
    path,
    bodyDigest: crypto.sha256(rawBody),
  }),
);

/** Attests a request that entered here, if it has to travel to the writer. */
export const attest = (
  crypto: Crypto,
  signer: Signer,
  membership: Membership,
  { version, requestId, entryPeer, call, token, receivedAt, arrival }: Omit<Forward, "attestation">,
): Forward => {
  const forward = { version, requestId, entryPeer, call, token, receivedAt, arrival };
  const attestation =
    entryPeer === membership.writer
      ? undefined
      : signer.sign(FORWARD_TAG, attestedCodec, attested(crypto, membership.digest, forward));
  return { version, requestId, entryPeer, call, token, receivedAt, arrival, attestation };
};

/** Whether the key of its entry peer signed it. */
const isSigned = memoized((forward: Forward, topologyDigest: Digest, crypto: Crypto, { keys }: Membership): boolean => {
  const { entryPeer, attestation } = forward;
  const key = keys.get(entryPeer);
  if (key === undefined || attestation === undefined) return false;
  return crypto.verify(key, FORWARD_TAG, attestedCodec, attested(crypto, topologyDigest, forward), attestation);
});

/** Whether the entry peer named in it vouches for exactly this request; the sender's envelope is checked already. */
export const isAttested = (crypto: Crypto, membership: Membership, forward: Forward): boolean => {
  const { entryPeer, attestation } = forward;
  if (entryPeer === membership.writer) return attestation === undefined;
  return isSigned(forward, membership.digest, crypto, membership);
};

/** A name for the request that is unique in the whole cluster. */
type RequestName = Pick<Forward, "entryPeer" | "requestId">;

export const isSameRequest = (left: RequestName, right: RequestName): boolean =>
  left.requestId === right.requestId && left.entryPeer === right.entryPeer;

export const requestKey = ({ entryPeer, requestId }: RequestName): string => `${entryPeer}/${requestId}`;
