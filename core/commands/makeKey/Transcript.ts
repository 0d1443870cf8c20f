/** The digests by which members know that they have heard the same and made the same. */
import { digest, list, record, text } from "../../codec/Codec.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import { type GroupRecord, groupCodec } from "../keys/KeyRecord.ts";
import { packageCodec, type SaidPackage } from "./KeygenMessages.ts";

const HEARD_TAG = "CUSTODY_KEYGEN_HEARD_V1";
const TRANSCRIPT_TAG = "CUSTODY_KEYGEN_V1";

const heardCodec = record({
  sessionId: digest,
  requestDigest: digest,
  packages: list(packageCodec, Limits.members),
});

const transcriptCodec = record({
  sessionId: digest,
  requestDigest: digest,
  /** Of all members, in member order; none where a peer is alone. */
  packages: list(packageCodec, Limits.members),
  publicKey: text(2 * Limits.publicKeyBytes),
  group: groupCodec,
});

export interface Heard {
  readonly sessionId: Digest;
  readonly requestDigest: Digest;
  /** Of all members, in member order. */
  readonly packages: ReadonlyArray<SaidPackage>;
}

/** A member that tells two different packages is found out by it, and a writer that opens a session for two requests. */
export const heardDigest = (crypto: Crypto, heard: Heard): Digest => crypto.digest(HEARD_TAG, heardCodec, heard);

export interface Transcript extends Heard {
  readonly publicKey: string;
  readonly group: GroupRecord;
}

export const transcriptDigest = (crypto: Crypto, transcript: Transcript): Digest =>
  crypto.digest(TRANSCRIPT_TAG, transcriptCodec, transcript);
