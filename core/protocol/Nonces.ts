/**
 * What a step draws and shows: nonces of questions, and names of sessions. Its entropy itself is shown to nobody, for
 * secrets are derived from it in the same way.
 */
import type { Digest } from "../base/Digest.ts";
import { digest, pair, uint } from "../codec/Codec.ts";
import type { StepContext } from "./Event.ts";
import type { PeerId } from "./Topology.ts";

const PROBE_TAG = "CUSTODY_PROBE_V1";
const nonceCodec = pair(digest, uint);

/** @param what it is for; the same gives the same once more within a step, and is the beginning of no secret's label */
export const freshNonce = ({ context: { crypto, entropy } }: { readonly context: StepContext }, what: string): Digest =>
  crypto.sha256(crypto.derive(entropy, what));

/** Of a question to several each gets a nonce of its own, so that none can answer in the name of another. */
export const nonceFor = (
  { context: { crypto } }: { readonly context: StepContext },
  nonce: Digest,
  peerId: PeerId,
): Digest => crypto.digest(PROBE_TAG, nonceCodec, [nonce, peerId]);
