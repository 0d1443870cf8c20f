/**
 * The registry root: one digest over the set of all approvers, kept up to date
 * with every change so that two peers compare registries by comparing 32 bytes
 * (protocol.md 4f).
 */
import { digest, record, text, uint } from "../../codec/Codec.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest, SetAccumulator } from "../../base/Digest.ts";
import { memoized } from "../../base/Memo.ts";
import { metadataCodec } from "../../credential/Metadata.ts";
import type { Approver } from "./Approver.ts";

const ROOT_TAG = "CUSTODY_ROOT_V1";
const METADATA_TAG = "CUSTODY_METADATA_V1";

const elementCodec = record({
  ref: text(256),
  metadataDigest: digest,
  revision: uint,
  createdAt: uint,
  updatedAt: uint,
});

const elementOf = memoized(
  (approver: Approver, crypto: Crypto): Digest =>
    crypto.digest(ROOT_TAG, elementCodec, {
      // The ref ends in the descriptor's digest, so the descriptor is covered.
      ref: approver.ref,
      metadataDigest: crypto.digest(METADATA_TAG, metadataCodec, approver.metadata),
      revision: approver.revision,
      createdAt: approver.createdAt,
      updatedAt: approver.updatedAt,
    }),
);

/** The set with an approver as it is now, in place of its previous version, if any. */
export const replaceApprover = (
  crypto: Crypto,
  set: SetAccumulator,
  before: Approver | undefined,
  now: Approver,
): SetAccumulator => crypto.replaceInSet(set, before && elementOf(before, crypto), elementOf(now, crypto));
